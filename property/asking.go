package property

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kir/internal/inputerr"
)

// A recipeBuffer holds several recipes in the JSON text that the scoring program reads.
type recipeBuffer struct {
	text []byte // JSON texts of all recipes, one after the other
	ends []int  // offset in text at which each recipe ends
}

func (r *recipeBuffer) reset() { r.text, r.ends = r.text[:0], r.ends[:0] }

// buffer returns the text of all recipes. The caller appends the next recipe to the text and passes the result to
// [recipeBuffer.add].
func (r *recipeBuffer) buffer() []byte { return r.text }

func (r *recipeBuffer) add(text []byte) {
	r.text = text
	r.ends = append(r.ends, len(text))
}

func (r *recipeBuffer) len() int { return len(r.ends) }

// recipe returns the text of recipe k. The text is valid until the buffer is reset.
func (r *recipeBuffer) recipe(k int) []byte {
	from := 0
	if k > 0 {
		from = r.ends[k-1]
	}
	return r.text[from:r.ends[k]]
}

// A request is a chain's list of recipes to score, some of them unknown, on which the chain waits.
type request struct {
	recipes *recipeBuffer
	missing []int     // indices of the recipes whose scores are unknown
	logs    []float64 // log scores of the missing recipes, in the order of missing
	err     error
	done    chan struct{}
}

// scores appends the log score of each recipe of the buffer to dst. Remembered scores are used; one call of the
// program scores all others, together with those that other chains request. After an error the appended values are
// meaningless.
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
	case p.requestQueued <- struct{}{}:
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

// serveQueue sends the queued requests, up to 4,096 recipes, to one process of the program. It does nothing if
// another chain has sent q meanwhile.
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
	p.meanCallTime += (took - p.meanCallTime) / 8
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

// waitForPeers delays the call until as many requests are queued as chains usually send together, for at most a
// quarter of the mean time of a call. The delay pays because a chain that has its answer usually sends another
// request soon.
func (p *Program) waitForPeers(q *request) {
	var late <-chan time.Time
	for {
		p.mu.Lock()
		enough := len(p.queue)*p.o.Processes >= p.peers || !slices.Contains(p.queue, q)
		took := p.meanCallTime
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
		case <-p.requestQueued:
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

// askProcess sends one line of input, the JSON array of recipes, to a process and returns the log score of each
// recipe. It restarts a process that ends, once.
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

// A memo caches log scores by recipe, in bounded memory. It has two generations. When the current one is full, it
// replaces the previous one. A recipe found in the previous generation is copied to the current one.
type memo struct {
	current, previous map[string]float64
	bytes             int // approximate size of current
}

const (
	memoBytes    = 8 << 20 // greatest approximate size of one generation of the memo
	memoOverhead = 64      // approximate bytes of a memo's entry without the recipe's text
)

func (m *memo) get(recipe []byte) (log float64, ok bool) {
	if log, ok = m.current[string(recipe)]; ok {
		return log, true
	}
	if log, ok = m.previous[string(recipe)]; ok {
		m.put(recipe, log)
	}
	return log, ok
}

func (m *memo) put(recipe []byte, log float64) {
	if size := len(recipe) + memoOverhead; m.current == nil || m.bytes+size > memoBytes {
		m.current, m.previous, m.bytes = make(map[string]float64), m.current, 0
	}
	m.current[string(recipe)] = log
	m.bytes += len(recipe) + memoOverhead
}
