package property

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kir/internal/inputerr"
)

// A recipeBuffer holds the JSON texts of several recipes, in the form that the scoring program reads.
type recipeBuffer struct {
	text       []byte // JSON texts of all recipes, one after the other
	endOffsets []int  // item k is the offset in text at which recipe k ends
}

func (r *recipeBuffer) reset() { r.text, r.endOffsets = r.text[:0], r.endOffsets[:0] }

// appendableText returns the text of all recipes in the buffer. The caller appends the JSON text of the next
// recipe and passes the result to [recipeBuffer.finishRecipe].
func (r *recipeBuffer) appendableText() []byte { return r.text }

// finishRecipe replaces the text of the buffer by the argument. The argument is the result of
// [recipeBuffer.appendableText], to which the caller has appended one more recipe.
func (r *recipeBuffer) finishRecipe(text []byte) {
	r.text = text
	r.endOffsets = append(r.endOffsets, len(text))
}

func (r *recipeBuffer) len() int { return len(r.endOffsets) }

// recipeText returns the JSON text of the recipe with index k. The text is valid until the buffer is reset.
func (r *recipeBuffer) recipeText(k int) []byte {
	from := 0
	if k > 0 {
		from = r.endOffsets[k-1]
	}
	return r.text[from:r.endOffsets[k]]
}

// A request is a list of recipes that a Markov chain wants scored by the external program. The chain waits
// until the program has scored the recipes in unknownRecipes.
type request struct {
	recipes          *recipeBuffer
	unknownRecipes   []int     // indices of the recipes whose scores are unknown
	unknownLogScores []float64 // log scores of the recipes in unknownRecipes, in the same order
	err              error
	done             chan struct{}
}

// appendLogScores appends the log score of each recipe in the buffer to dst. Scores that the cache holds are
// taken from there. All other recipes of the buffer are sent to the external program in one call, which also
// contains the recipes of other waiting chains. After an error the appended values are meaningless.
func (p *Program) appendLogScores(dst []float64, recipes *recipeBuffer) ([]float64, error) {
	from := len(dst)
	q := request{recipes: recipes}
	p.mu.Lock()
	for k := range recipes.len() {
		log, ok := p.scoreMemo.get(recipes.recipeText(k))
		if !ok {
			q.unknownRecipes = append(q.unknownRecipes, k)
		}
		dst = append(dst, log)
	}
	if err := p.firstError; err != nil || len(q.unknownRecipes) == 0 {
		p.mu.Unlock()
		return dst, err
	}
	q.done = make(chan struct{})
	p.queuedRequests = append(p.queuedRequests, &q)
	p.pendingRequests++
	p.expectedRequests = max(p.expectedRequests, p.pendingRequests)
	p.mu.Unlock()
	select {
	case p.requestQueued <- struct{}{}:
	default:
	}
	for answered := false; !answered; {
		select {
		case <-q.done:
			answered = true
		case p.processSemaphore <- struct{}{}:
			p.sendQueuedRequests(&q)
			<-p.processSemaphore
		}
	}
	for k, log := range q.unknownLogScores {
		dst[from+q.unknownRecipes[k]] = log
	}
	return dst, q.err
}

// sendQueuedRequests sends the queued requests, with up to 4,096 recipes, to one process of the external
// program. If another chain has already sent the request ownRequest, sendQueuedRequests sends nothing.
func (p *Program) sendQueuedRequests(ownRequest *request) {
	p.waitForMoreRequests(ownRequest)
	p.mu.Lock()
	if !slices.Contains(p.queuedRequests, ownRequest) {
		p.mu.Unlock()
		return
	}
	asked, n := 0, 0
	for asked < len(p.queuedRequests) && (asked == 0 || n+len(p.queuedRequests[asked].unknownRecipes) <= maxRecipesPerLine) {
		n += len(p.queuedRequests[asked].unknownRecipes)
		asked++
	}
	now := slices.Clone(p.queuedRequests[:asked])
	p.queuedRequests = slices.Delete(p.queuedRequests, 0, asked)
	p.mu.Unlock()

	line := []byte{'['}
	for _, q := range now {
		for _, k := range q.unknownRecipes {
			line = append(append(line, q.recipes.recipeText(k)...), ',')
		}
	}
	line = append(line[:len(line)-1], "]\n"...)
	start := time.Now()
	logs, err := p.askProcess(line, n)
	took := time.Since(start)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.meanCallTime += (took - p.meanCallTime) / 8
	p.pendingRequests -= len(now)
	for _, q := range now {
		if q.err = err; err == nil {
			q.unknownLogScores, logs = logs[:len(q.unknownRecipes)], logs[len(q.unknownRecipes):]
			for k, log := range q.unknownLogScores {
				p.scoreMemo.put(q.recipes.recipeText(q.unknownRecipes[k]), log)
			}
		}
		close(q.done)
	}
}

// waitForMoreRequests waits until as many requests are queued as chains usually send together, but at most a
// quarter of the mean time of a call. Waiting makes calls larger and fewer: a chain that has received its
// scores usually sends the next request soon.
func (p *Program) waitForMoreRequests(ownRequest *request) {
	var late <-chan time.Time
	for {
		p.mu.Lock()
		enough := len(p.queuedRequests)*p.options.Processes >= p.expectedRequests || !slices.Contains(p.queuedRequests, ownRequest)
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
		case <-ownRequest.done:
			return
		case <-late:
			p.mu.Lock()
			p.expectedRequests = p.pendingRequests
			p.mu.Unlock()
			return
		}
	}
}

// askProcess sends one line of input, a JSON array of recipes, to a process of the external program and returns
// the log score of each recipe. If the process ends before it answers, askProcess starts another process and
// asks once more.
func (p *Program) askProcess(request []byte, recipes int) ([]float64, error) {
	for again := false; ; again = true {
		q, err := p.acquireProcess()
		if err != nil {
			return nil, p.recordFailure(err)
		}
		answer, err := q.exchange(request, recipes)
		if err == nil {
			var logs []float64
			if logs, err = appendAnswerLogs(nil, answer, recipes); err == nil {
				p.releaseProcess(q, recipes)
				return logs, nil
			}
			err = fmt.Errorf("the program %s answered %s: %w%s", p.quotedCommand(), inputerr.Quote(string(answer)), err, q.lastErrorLine())
			q.kill()
			return nil, p.recordFailure(err)
		}
		ended := (*processEndedError)(nil)
		if !errors.As(err, &ended) || again || !p.countRestart() {
			return nil, p.recordFailure(fmt.Errorf("the program %s %w%s", p.quotedCommand(), err, q.lastErrorLine()))
		}
		if p.options.Warn != nil {
			p.options.Warn(fmt.Sprintf("The program %s %v%s. It is started again.", p.quotedCommand(), err, q.lastErrorLine()))
		}
	}
}

// A scoreCache maps the JSON text of a recipe to the log score of the recipe, in bounded memory. The cache
// consists of a current and a previous map. When the current map is full, it becomes the previous map, and the
// old previous map is dropped. A recipe found in the previous map is copied to the current map.
type scoreCache struct {
	currentScores, previousScores map[string]float64
	currentSizeBytes              int // approximate size of currentScores, in bytes
}

const (
	maxCacheMapBytes        = 8 << 20 // greatest approximate size of each of the two maps of a scoreCache, in bytes
	cacheEntryOverheadBytes = 64      // approximate size of an entry of a scoreCache, in bytes, without the JSON text of the recipe
)

func (m *scoreCache) get(recipe []byte) (log float64, ok bool) {
	if log, ok = m.currentScores[string(recipe)]; ok {
		return log, true
	}
	if log, ok = m.previousScores[string(recipe)]; ok {
		m.put(recipe, log)
	}
	return log, ok
}

func (m *scoreCache) put(recipe []byte, log float64) {
	if size := len(recipe) + cacheEntryOverheadBytes; m.currentScores == nil || m.currentSizeBytes+size > maxCacheMapBytes {
		m.currentScores, m.previousScores, m.currentSizeBytes = make(map[string]float64), m.currentScores, 0
	}
	m.currentScores[string(recipe)] = log
	m.currentSizeBytes += len(recipe) + cacheEntryOverheadBytes
}
