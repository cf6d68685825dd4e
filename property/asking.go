package property

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kir/internal/inputerr"
)

// A recipeBuffer holds several recipes as the text that the program reads.
type recipeBuffer struct {
	text []byte // the recipes, one after the other
	ends []int  // the end of each recipe in text
}

func (r *recipeBuffer) reset() { r.text, r.ends = r.text[:0], r.ends[:0] }

// buffer returns the text, to which the caller appends the next recipe before it calls
// [recipeBuffer.add].
func (r *recipeBuffer) buffer() []byte { return r.text }

func (r *recipeBuffer) add(text []byte) {
	r.text = text
	r.ends = append(r.ends, len(text))
}

func (r *recipeBuffer) len() int { return len(r.ends) }

// recipe returns the text of recipe k. It is valid until the buffer's text changes.
func (r *recipeBuffer) recipe(k int) []byte {
	from := 0
	if k > 0 {
		from = r.ends[k-1]
	}
	return r.text[from:r.ends[k]]
}

// A request holds the recipes whose scores one chain waits for.
type request struct {
	recipes *recipeBuffer
	missing []int     // indices of the recipes whose scores are unknown
	logs    []float64 // the logs of their scores
	err     error
	done    chan struct{}
}

// scores appends the logs of the recipes' scores to dst. One call of the program asks for the
// unknown ones, together with the requests of other chains. After an error the appended values mean
// nothing.
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

// serveQueue sends the queued requests to a process if q is still among them: another chain may
// just have had q answered.
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

// waitForPeers waits until as many requests are queued as usually come together, but at most a
// quarter of the time of a call. A chain that got its answer usually asks again soon.
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

// askProcess sends the line request to a process and returns the logs of the scores of its recipes.
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
			err = fmt.Errorf("the program %s answered %s: %w%s", p.name(), inputerr.Quote(string(answer)), err, q.lastErrorLine())
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

// A memo remembers scores by recipe, in bounded memory. It keeps the last generation and the one
// before. A recipe of the older generation that is asked for again moves to the younger.
type memo struct {
	young, old map[string]float64
	bytes      int // of young, approximately
}

const (
	memoBytes    = 8 << 20 // of a generation, approximately
	memoOverhead = 64      // bytes that a recipe takes beside its text, approximately
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
