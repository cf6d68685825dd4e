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
// Most moves of most chains change an ingredient or two, or nothing. So what a
// draw costs grows with what changed and not with what is used, but for one look
// at each used ingredient to find what changed.
type recorder struct {
	writer *drawfile.Writer
	draws  int // recorded so far

	current  drawfile.Draw // the last draw
	logScore float64       // Σ c_k·log y_k there
	place    []int32       // by ingredient: its place in current and 1, or 0
	same     int           // draws whose numbers are current's and that no series has been told of
	settled  bool          // no shortlist wants a draw with current's numbers

	used, density *diagnose.Series
	score         *diagnose.Series // of the product of the properties to their weights; nil without any
	scores        []*diagnose.Series
	sizes         *diagnose.Histogram
	presence      *diagnose.Presence
	best, fresh   shortlist // of all sets of ingredients, and of those not in the book

	// Scratch.
	changes        []change
	changed, holes []int32
}

// change says that an ingredient has an amount that it did not have in the draw
// before.
type change struct{ ingredient, amount int32 }

// keptDraws returns how many draws of each chain a series keeps for quantiles
// and R-hat: all of them, up to a limit that keeps the memory for all chains
// bounded.
func keptDraws(chains int) int { return min(1<<17, max(1<<12, 1<<19/chains)) }

// newRecorder returns the recorder of a chain that has not been drawn from.
func newRecorder(s *Spec, w *drawfile.Writer) *recorder {
	limit := keptDraws(s.Settings.Chains)
	series := func() *diagnose.Series { return diagnose.NewSeries(limit) }
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
			r.score = series()
		}
	}
	r.fresh.known = s.Known
	return r
}

// sample makes draws, thin iterations each, from a state that has just been
// refreshed. It gives up with errAbandoned when it is told to.
func (r *recorder) sample(c *kir.Chain, draws, thin int, abandon *atomic.Bool) error {
	updated := int64(-1)
	repeats := 0
	for d := range draws {
		if d%watchIterations == 0 && abandon.Load() {
			return errAbandoned
		}
		if err := c.Advance(thin); err != nil {
			return err
		}
		if u := c.Tally().Updated; u == updated {
			repeats++
			continue
		} else {
			updated = u
		}
		if err := r.repeat(repeats); err != nil {
			return err
		}
		repeats = 0
		// Refreshing may have changed the numbers of the first draw by rounding.
		changes := r.compare(c.State.Composition)
		exchanged := false
		if d > 0 {
			var err error
			if exchanged, err = r.exchange(changes); err != nil {
				return err
			}
		}
		if !exchanged {
			if err := r.next(c.State, changes); err != nil {
				return err
			}
		}
	}
	if err := r.repeat(repeats); err != nil {
		return err
	}
	r.tell()
	r.sizes.Advance(r.draws)
	r.presence.Advance(r.draws)
	return nil
}

// compare returns the ingredients whose amounts in x are not those of the
// current draw, first those that the current draw uses.
func (r *recorder) compare(x *kir.Composition) []change {
	amounts, order := x.Amounts(), x.Ingredients()
	changes := r.changes[:0]
	have := r.current.Amounts
	came := len(order) - len(have)
	for p, i := range r.current.Ingredients {
		if a := amounts[i]; a != have[p] {
			changes = append(changes, change{i, a})
			if a == 0 {
				came++
			}
		}
	}
	// What came stands near the end of the order as a rule.
	for k := len(order) - 1; came > 0; k-- {
		if i := order[k]; r.place[i] == 0 {
			changes = append(changes, change{i, amounts[i]})
			came--
		}
	}
	r.changes = changes
	return changes
}

// repeat records n draws that equal the current one.
func (r *recorder) repeat(n int) error {
	r.draws += n
	r.same += n
	return r.writer.Repeat(n)
}

// tell adds to the series what they have not been told of.
func (r *recorder) tell() {
	for range r.same {
		r.used.Add(float64(len(r.current.Ingredients)))
		r.density.Add(r.current.LogDensity)
		for k, s := range r.scores {
			s.Add(r.current.Scores[k])
		}
		if r.score != nil {
			r.score.Add(math.Exp(r.logScore))
		}
	}
	r.same = 0
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

// exchange records a draw that differs from the current one in that an
// ingredient took the place and the amount of another, where this is all that
// changed and nothing follows from it. It says whether it did. It is next for
// the change that is the most frequent by far in chains without properties.
func (r *recorder) exchange(changes []change) (bool, error) {
	if len(changes) != 2 || !r.settled {
		return false, nil
	}
	out, in := changes[0], changes[1]
	p := r.place[out.ingredient] - 1
	if out.amount != 0 || p < 0 || r.place[in.ingredient] != 0 || r.current.Amounts[p] != in.amount {
		return false, nil
	}
	r.place[out.ingredient], r.place[in.ingredient] = 0, p+1
	r.current.Ingredients[p] = in.ingredient
	r.presence.Set(int(out.ingredient), r.draws, 0)
	r.presence.Set(int(in.ingredient), r.draws, int(in.amount))
	r.draws++
	r.same++
	return true, r.writer.Replace(int(p), in.ingredient)
}

// next records a draw that differs from the current one by changes.
func (r *recorder) next(x *kir.State, changes []change) error {
	r.tell()
	before := len(r.current.Ingredients)
	changed := r.apply(changes)
	if used := len(r.current.Ingredients); used != before {
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
	r.best.offer(r)
	if r.fresh.known != nil {
		r.fresh.offer(r)
	}
	r.settled = len(r.scores) == 0 && r.best.refuses(r) && (r.fresh.known == nil || r.fresh.refuses(r))
	r.draws++
	r.same = 1
	return r.writer.Write(&r.current, changed)
}

// apply makes changes to the current draw's lists, and returns the places where
// the lists may differ from what they were, of those that they still have and
// had before, in ascending order.
//
// An ingredient keeps its place. New ones take the places of those that went,
// in ascending order, and then further ones; places that are left empty are
// filled from the end.
func (r *recorder) apply(changes []change) []int32 {
	ingredients, have := r.current.Ingredients, r.current.Amounts
	changed, holes := r.changed[:0], r.holes[:0]
	for _, c := range changes {
		p := r.place[c.ingredient] - 1
		if p < 0 {
			continue
		}
		have[p] = c.amount
		changed = append(changed, p)
		if c.amount == 0 {
			holes = append(holes, p)
		}
	}
	slices.Sort(changed)
	slices.Sort(holes)
	filled := 0
	for _, c := range changes {
		r.presence.Set(int(c.ingredient), r.draws, int(c.amount))
		if r.place[c.ingredient] != 0 {
			if c.amount == 0 {
				r.place[c.ingredient] = 0
			}
			continue
		}
		p := len(ingredients)
		if filled < len(holes) {
			p = int(holes[filled])
			filled++
			ingredients[p], have[p] = c.ingredient, c.amount
		} else {
			ingredients, have = append(ingredients, c.ingredient), append(have, c.amount)
		}
		r.place[c.ingredient] = int32(p + 1)
	}
	for _, p := range slices.Backward(holes[filled:]) {
		last := len(ingredients) - 1
		if int(p) < last {
			ingredients[p], have[p] = ingredients[last], have[last]
			r.place[ingredients[p]] = p + 1
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
