package property

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kir/internal/fault"
)

// recipes are some, as a program reads them.
type recipes struct {
	text []byte // one after the other
	ends []int  // of each, in the text
}

func (r *recipes) reset() { r.text, r.ends = r.text[:0], r.ends[:0] }

// room is where the next recipe is appended, for [recipes.add] to take.
func (r *recipes) room() []byte { return r.text }

func (r *recipes) add(text []byte) {
	r.text = text
	r.ends = append(r.ends, len(text))
}

func (r *recipes) len() int { return len(r.ends) }

// recipe returns one of them, which holds as long as the text stays.
func (r *recipes) recipe(k int) []byte {
	from := 0
	if k > 0 {
		from = r.ends[k-1]
	}
	return r.text[from:r.ends[k]]
}

// A request is what one chain wants to know, until it is answered.
type request struct {
	of   *recipes
	ask  []int     // which of them are not known
	logs []float64 // their answers
	err  error
	done chan struct{}
}

// scores appends the logs of the scores of recipes to dst. Those that are not known
// are asked for together with what other chains want to know. After an error what was
// appended means nothing.
func (p *Program) scores(dst []float64, of *recipes) ([]float64, error) {
	from := len(dst)
	q := request{of: of}
	p.mu.Lock()
	for k := range of.len() {
		log, ok := p.known.get(of.recipe(k))
		if !ok {
			q.ask = append(q.ask, k)
		}
		dst = append(dst, log)
	}
	if err := p.err; err != nil || len(q.ask) == 0 {
		p.mu.Unlock()
		return dst, err
	}
	q.done = make(chan struct{})
	p.queue = append(p.queue, &q)
	p.open++
	p.peers = max(p.peers, p.open)
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
			p.answer(&q)
			<-p.slots
		}
	}
	for k, log := range q.logs {
		dst[from+q.ask[k]] = log
	}
	return dst, q.err
}

// answer asks a process what is in the queue, if q is: it may just have been answered.
func (p *Program) answer(q *request) {
	p.gather(q)
	p.mu.Lock()
	if !slices.Contains(p.queue, q) {
		p.mu.Unlock()
		return
	}
	asked, n := 0, 0
	for asked < len(p.queue) && (asked == 0 || n+len(p.queue[asked].ask) <= maxRecipes) {
		n += len(p.queue[asked].ask)
		asked++
	}
	now := slices.Clone(p.queue[:asked])
	p.queue = slices.Delete(p.queue, 0, asked)
	p.mu.Unlock()

	line := []byte{'['}
	for _, q := range now {
		for _, k := range q.ask {
			line = append(append(line, q.of.recipe(k)...), ',')
		}
	}
	line = append(line[:len(line)-1], "]\n"...)
	start := time.Now()
	logs, err := p.ask(line, n)
	took := time.Since(start)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.took += (took - p.took) / 8
	p.open -= len(now)
	for _, q := range now {
		if q.err = err; err == nil {
			q.logs, logs = logs[:len(q.ask)], logs[len(q.ask):]
			for k, log := range q.logs {
				p.known.put(q.of.recipe(q.ask[k]), log)
			}
		}
		close(q.done)
	}
}

// gather waits until as many requests are there as mostly come together, but not for
// longer than a quarter of what a call takes: a chain that has its answer mostly wants
// the next one soon.
func (p *Program) gather(q *request) {
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
			p.peers = p.open
			p.mu.Unlock()
			return
		}
	}
}

// ask asks a process for the scores of some recipes, of which request is the line,
// and returns their logs.
func (p *Program) ask(request []byte, recipes int) ([]float64, error) {
	for again := false; ; again = true {
		q, err := p.take()
		if err != nil {
			return nil, p.fail(err)
		}
		answer, err := q.ask(request, recipes)
		if err == nil {
			var logs []float64
			if logs, err = appendLogs(nil, answer, recipes); err == nil {
				p.give(q, recipes)
				return logs, nil
			}
			err = fmt.Errorf("the program %s answered %s: %w%s", p.name(), fault.Quote(string(answer)), err, q.lastWords())
			q.kill()
			return nil, p.fail(err)
		}
		ended := (*endedError)(nil)
		if !errors.As(err, &ended) || again || !p.mayRestart() {
			return nil, p.fail(fmt.Errorf("the program %s %w%s", p.name(), err, q.lastWords()))
		}
		if p.o.Tell != nil {
			p.o.Tell(fmt.Sprintf("The program %s %v%s. It is started again.", p.name(), err, q.lastWords()))
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
	memoBytes  = 8 << 20 // of a generation, about
	memoBeside = 64      // bytes that a recipe takes beside its text, about
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
	if size := len(recipe) + memoBeside; m.young == nil || m.bytes+size > memoBytes {
		m.young, m.old, m.bytes = make(map[string]float64), m.young, 0
	}
	m.young[string(recipe)] = log
	m.bytes += len(recipe) + memoBeside
}
