package property

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kir/internal/fault"
)

// recipeBuffer are some, as a program reads them.
type recipeBuffer struct {
	text []byte // one after the other
	ends []int  // of each, in the text
}

func (r *recipeBuffer) reset() { r.text, r.ends = r.text[:0], r.ends[:0] }

// buffer is where the next recipe is appended, for [recipeBuffer.add] to take.
func (r *recipeBuffer) buffer() []byte { return r.text }

func (r *recipeBuffer) add(text []byte) {
	r.text = text
	r.ends = append(r.ends, len(text))
}

func (r *recipeBuffer) len() int { return len(r.ends) }

// recipe returns one of them, which holds as long as the text stays.
func (r *recipeBuffer) recipe(k int) []byte {
	from := 0
	if k > 0 {
		from = r.ends[k-1]
	}
	return r.text[from:r.ends[k]]
}

// A request is what one chain wants to know, until it is answered.
type request struct {
	recipes *recipeBuffer
	missing []int     // which of them are not known
	logs    []float64 // their answers
	err     error
	done    chan struct{}
}

// scores appends the logs of the scores of recipes to dst. Those that are not known
// are asked for together with what other chains want to know. After an error what was
// appended means nothing.
func (p *Program) scores(dst []float64, of *recipeBuffer) ([]float64, error) {
	from := len(dst)
	q := request{recipes: of}
	p.mu.Lock()
	for k := range of.len() {
		log, ok := p.known.get(of.recipe(k))
		if !ok {
			q.missing = append(q.missing, k)
		}
		dst = append(dst, log)
	}
	if err := p.err; err != nil || len(q.missing) == 0 {
		p.mu.Unlock()
		return dst, err
	}
	q.done = make(chan struct{})
	p.queue = append(p.queue, &q)
	p.pending++
	p.peers = max(p.peers, p.pending)
	p.mu.Unlock()
	select {
	case p.arrived <- struct{}{}:
	default:
	}
	for answered := false; !answered; {
		select {
		case <-q.done:
			answered = true
		case p.slots <- struct{}{}:
			p.serveQueue(&q)
			<-p.slots
		}
	}
	for k, log := range q.logs {
		dst[from+q.missing[k]] = log
	}
	return dst, q.err
}

// serveQueue asks a process what is in the queue, if q is: it may just have been answered.
func (p *Program) serveQueue(q *request) {
	p.waitForPeers(q)
	p.mu.Lock()
	if !slices.Contains(p.queue, q) {
		p.mu.Unlock()
		return
	}
	asked, n := 0, 0
	for asked < len(p.queue) && (asked == 0 || n+len(p.queue[asked].missing) <= maxRecipes) {
		n += len(p.queue[asked].missing)
		asked++
	}
	now := slices.Clone(p.queue[:asked])
	p.queue = slices.Delete(p.queue, 0, asked)
	p.mu.Unlock()

	line := []byte{'['}
	for _, q := range now {
		for _, k := range q.missing {
			line = append(append(line, q.recipes.recipe(k)...), ',')
		}
	}
	line = append(line[:len(line)-1], "]\n"...)
	start := time.Now()
	logs, err := p.askProcess(line, n)
	took := time.Since(start)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.took += (took - p.took) / 8
	p.pending -= len(now)
	for _, q := range now {
		if q.err = err; err == nil {
			q.logs, logs = logs[:len(q.missing)], logs[len(q.missing):]
			for k, log := range q.logs {
				p.known.put(q.recipes.recipe(q.missing[k]), log)
			}
		}
		close(q.done)
	}
}

// waitForPeers waits until as many requests are there as mostly come together, but not for
// longer than a quarter of what a call takes: a chain that has its answer mostly wants
// the next one soon.
func (p *Program) waitForPeers(q *request) {
	var late <-chan time.Time
	for {
		p.mu.Lock()
		enough := len(p.queue)*p.o.Processes >= p.peers || !slices.Contains(p.queue, q)
		took := p.took
		p.mu.Unlock()
		if enough {
			return
		}
		if late == nil {
			timer := time.NewTimer(took / 4)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-p.arrived:
		case <-q.done:
			return
		case <-late:
			p.mu.Lock()
			p.peers = p.pending
			p.mu.Unlock()
			return
		}
	}
}

// askProcess asks a process for the scores of some recipes, of which request is the line,
// and returns their logs.
func (p *Program) askProcess(request []byte, recipes int) ([]float64, error) {
	for again := false; ; again = true {
		q, err := p.acquire()
		if err != nil {
			return nil, p.fail(err)
		}
		answer, err := q.exchange(request, recipes)
		if err == nil {
			var logs []float64
			if logs, err = appendLogs(nil, answer, recipes); err == nil {
				p.release(q, recipes)
				return logs, nil
			}
			err = fmt.Errorf("the program %s answered %s: %w%s", p.name(), fault.Quote(string(answer)), err, q.lastErrorLine())
			q.kill()
			return nil, p.fail(err)
		}
		ended := (*endedError)(nil)
		if !errors.As(err, &ended) || again || !p.mayRestart() {
			return nil, p.fail(fmt.Errorf("the program %s %w%s", p.name(), err, q.lastErrorLine()))
		}
		if p.o.Tell != nil {
			p.o.Tell(fmt.Sprintf("The program %s %v%s. It is started again.", p.name(), err, q.lastErrorLine()))
		}
	}
}

// memo remembers scores by recipe, in bounded memory: those of the last generation and
// of the one before, which whoever is asked for again is taken over from.
type memo struct {
	young, old map[string]float64
	bytes      int // of young, about
}

const (
	memoBytes    = 8 << 20 // of a generation, about
	memoOverhead = 64      // bytes that a recipe takes beside its text, about
)

func (m *memo) get(recipe []byte) (log float64, ok bool) {
	if log, ok = m.young[string(recipe)]; ok {
		return log, true
	}
	if log, ok = m.old[string(recipe)]; ok {
		m.put(recipe, log)
	}
	return log, ok
}

func (m *memo) put(recipe []byte, log float64) {
	if size := len(recipe) + memoOverhead; m.young == nil || m.bytes+size > memoBytes {
		m.young, m.old, m.bytes = make(map[string]float64), m.young, 0
	}
	m.young[string(recipe)] = log
	m.bytes += len(recipe) + memoOverhead
}
