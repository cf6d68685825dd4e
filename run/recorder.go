package run

import (
	"math"
	"slices"
	"sync/atomic"

	"kir"
	"kir/diagnose"
	"kir/run/drawfile"
)

// A recorder follows one chain from draw to draw: it hands what changed to the
// file of draws and to the figures.
//
// Draws come as stretches: a draw, and how often it was repeated. Most moves of
// most chains change an ingredient or two, or nothing, so the time a draw takes
// is proportional to what changed, but for one look at each used ingredient.
type recorder struct {
	writer *drawfile.Writer
	draws  int // recorded so far

	current  drawfile.Draw // the draw that the stretch consists of
	logScore float64       // Σ c_k·log y_k there
	repeats  int           // further draws equal to it, which nobody has been told of
	place    []int32       // by ingredient: its place in current and 1, or 0

	used, density tracker
	score         *tracker // of the product of the properties to their weights; nil without any
	scores        []tracker
	sizes         *diagnose.Histogram
	presence      *diagnose.Presence
	best, fresh   shortlist // of all sets of ingredients, and of those not in the book

	changed, holes []int32 // scratch
}

// tracker adds to a series, which it tells of a value once it has changed.
type tracker struct {
	series *diagnose.Series
	value  float64
	count  int
}

// add appends a value n times.
func (t *tracker) add(value float64, n int) {
	if value != t.value {
		t.flush()
		t.value = value
	}
	t.count += n
}

func (t *tracker) flush() {
	for range t.count {
		t.series.Add(t.value)
	}
	t.count = 0
}

// keptDraws returns how many draws of each chain a series keeps for quantiles
// and R-hat: all of them, up to a limit that keeps the memory for all chains
// bounded.
func keptDraws(chains int) int { return min(1<<17, max(1<<12, 1<<19/chains)) }

// newRecorder returns the recorder of a chain that has not been drawn from.
func newRecorder(s *Spec, w *drawfile.Writer) *recorder {
	limit := keptDraws(s.Settings.Chains)
	series := func() tracker { return tracker{series: diagnose.NewSeries(limit)} }
	_, most := s.Target.Law().Support()
	r := &recorder{
		writer:   w,
		place:    make([]int32, s.Target.Space().N()),
		used:     series(),
		density:  series(),
		sizes:    diagnose.NewHistogram(most+1, limit),
		presence: diagnose.NewPresence(s.Target.Space().N(), limit),
	}
	for _, w := range s.Target.Wishes() {
		r.scores = append(r.scores, series())
		if w.Weight > 0 && r.score == nil {
			t := series()
			r.score = &t
		}
	}
	r.fresh.known = s.Known
	return r
}

// sample makes draws, thin iterations each, from a state that has just been
// refreshed. It gives up with errAbandoned when it is told to.
func (r *recorder) sample(c *kir.Chain, draws, thin int, abandon *atomic.Bool) error {
	updated := int64(-1)
	for d := range draws {
		if d&63 == 0 && abandon.Load() {
			return errAbandoned
		}
		if err := c.Advance(thin); err != nil {
			return err
		}
		if u := c.Tally().Updated; u == updated {
			r.repeats++
			continue
		} else {
			updated = u
		}
		if err := r.endStretch(); err != nil {
			return err
		}
		if err := r.startStretch(c.State); err != nil {
			return err
		}
	}
	return r.endSegment()
}

// endSegment tells everybody of all draws.
func (r *recorder) endSegment() error {
	if err := r.endStretch(); err != nil {
		return err
	}
	r.used.flush()
	r.density.flush()
	if r.score != nil {
		r.score.flush()
	}
	for k := range r.scores {
		r.scores[k].flush()
	}
	r.sizes.Advance(r.draws)
	r.presence.Advance(r.draws)
	return nil
}

// endStretch records the repetitions of the current draw.
func (r *recorder) endStretch() error {
	if r.repeats == 0 {
		return nil
	}
	n := r.repeats
	r.repeats = 0
	r.draws += n
	r.count(n)
	return r.writer.Repeat(n)
}

// count adds the current draw n times to the series.
func (r *recorder) count(n int) {
	r.used.add(float64(len(r.current.Ingredients)), n)
	r.density.add(r.current.LogDensity, n)
	if r.score != nil {
		r.score.add(math.Exp(r.logScore), n)
	}
	for k := range r.scores {
		r.scores[k].add(r.current.Scores[k], n)
	}
}

// startStretch records a draw that may differ from the one before.
func (r *recorder) startStretch(x *kir.State) error {
	before := len(r.current.Ingredients)
	changed := r.compare(x.Composition)
	used := len(r.current.Ingredients)
	if used != before {
		r.sizes.Set(r.draws, used)
	}
	r.logScore = x.LogScore()
	r.current.LogDensity = x.LogDensity()
	if len(r.scores) > 0 {
		r.current.Scores = x.AppendScores(r.current.Scores[:0])
		if err := r.checkScores(x); err != nil {
			return err
		}
	}
	if err := r.writer.Write(&r.current, changed); err != nil {
		return err
	}
	r.best.offer(r)
	if r.fresh.known != nil {
		r.fresh.offer(r)
	}
	r.draws++
	r.count(1)
	return nil
}

// checkScores refuses what is no score. The target has checked the properties
// that count, but not those of weight 0.
func (r *recorder) checkScores(x *kir.State) error {
	for k, y := range r.current.Scores {
		if math.IsNaN(y) || math.IsInf(y, 1) {
			return &kir.ScoreError{Wish: x.Target().Wishes()[k].Name, Value: math.Log(y), State: x.Composition.String()}
		}
	}
	return nil
}

// compare makes the current draw's lists those of a composition, tells the
// presence of every difference, and returns the places where the lists may
// differ from what they were, of those that they still have and had before.
//
// An ingredient keeps its place. New ones take the places of those that went,
// in ascending order, and then further ones; places that are left empty are
// filled from the end.
func (r *recorder) compare(x *kir.Composition) []int32 {
	amounts, order := x.Amounts(), x.Ingredients()
	ingredients, have := r.current.Ingredients, r.current.Amounts
	changed, holes := r.changed[:0], r.holes[:0]
	for p, i := range ingredients {
		if amounts[i] != have[p] {
			changed = append(changed, int32(p))
		}
	}
	for _, p := range changed {
		i := ingredients[p]
		have[p] = amounts[i]
		r.presence.Set(int(i), r.draws, int(have[p]))
		if have[p] == 0 {
			r.place[i] = 0
			holes = append(holes, p)
		}
	}
	// What came stands near the end of the order as a rule.
	before := len(ingredients)
	filled := 0
	for k, left := len(order)-1, len(order)-(before-len(holes)); left > 0; k-- {
		i := order[k]
		if r.place[i] != 0 {
			continue
		}
		left--
		var p int
		if filled < len(holes) {
			p = int(holes[filled])
			filled++
			ingredients[p], have[p] = i, amounts[i]
		} else {
			p = len(ingredients)
			ingredients, have = append(ingredients, i), append(have, amounts[i])
		}
		r.place[i] = int32(p + 1)
		r.presence.Set(int(i), r.draws, int(amounts[i]))
	}
	for _, p := range slices.Backward(holes[filled:]) {
		last := len(ingredients) - 1
		if int(p) < last {
			i := ingredients[last]
			ingredients[p], have[p] = i, have[last]
			r.place[i] = p + 1
		}
		ingredients, have = ingredients[:last], have[:last]
	}
	for len(changed) > 0 && int(changed[len(changed)-1]) >= len(ingredients) {
		changed = changed[:len(changed)-1]
	}
	r.current.Ingredients, r.current.Amounts = ingredients, have
	r.changed, r.holes = changed, holes
	return changed
}
