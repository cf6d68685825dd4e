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
// Ingredients have the places in a draw that they have in the chain's list. Most
// moves of most chains change an ingredient or two, or nothing. So what a draw
// costs grows with what changed and not with what is used, but for one look at
// each used ingredient to find what changed; and that is spared where the chain
// says what it exchanged.
type recorder struct {
	writer *drawfile.Writer
	draws  int // recorded so far

	current  drawfile.Draw // the last draw
	since    int           // the first draw that has what current has and that presence has not been told of
	apart    []int         // by place, if not all have the same: the first such draw; empty otherwise
	logScore float64       // Σ c_k·log y_k there
	same     int           // draws whose numbers are current's and that no series has been told of
	settled  bool          // no shortlist wants a draw with current's numbers

	// Draws that share nothing with the ones before and after are told to presence
	// together. Their lists stand one after the other, and then current's.
	ingredients, amounts []int32
	alone                []int // how long the lists are that stand before current's
	firstAlone           int   // the draw of the first of these
	at                   int   // where current's begin

	used, density *diagnose.Series
	score         *diagnose.Series // of the product of the properties to their weights; nil without any
	scores        []*diagnose.Series
	sizes         *diagnose.Histogram
	presence      *diagnose.Presence
	best, fresh   shortlist // of all sets of ingredients, and of those not in the book

	// Scratch.
	changed   []int32
	exchanges [256]kir.Exchange
}

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
	exchanges := thin == 1 && len(r.scores) == 0
	searches := r.score != nil && c.Search(r.bar())
	for d, watch := 0, 0; d < draws; {
		if d >= watch {
			if abandon.Load() {
				return errAbandoned
			}
			watch = d + watchIterations
		}
		// Refreshing may have changed the numbers of the first draw by rounding,
		// so that is looked at whole.
		if exchanges && d > 0 && r.settled {
			if err := r.repeat(repeats); err != nil {
				return err
			}
			repeats = 0
			made, err := r.exchange(c, min(draws-d, len(r.exchanges)))
			if err != nil {
				return err
			}
			if d += made; made > 0 {
				updated = c.Updated()
				continue
			}
			exchanges = false
		}
		if err := c.Advance(thin); err != nil {
			return err
		}
		d++
		if searches {
			if err := r.take(c, r.draws+repeats); err != nil {
				return err
			}
		}
		if u := c.Updated(); u == updated {
			repeats++
			continue
		} else {
			updated = u
		}
		if err := r.repeat(repeats); err != nil {
			return err
		}
		repeats = 0
		if err := r.next(c.State); err != nil {
			return err
		}
	}
	if err := r.repeat(repeats); err != nil {
		return err
	}
	r.tell()
	r.sizes.Advance(r.draws)
	r.endRuns()
	r.tellAlone()
	return nil
}

// bar is the log score that what a chain finds must have to be of interest.
func (r *recorder) bar() float64 {
	if r.fresh.known == nil {
		return r.best.bar()
	}
	return min(r.best.bar(), r.fresh.bar())
}

// take considers what the chain found on its way to a draw, and sets the bar for
// the next.
func (r *recorder) take(c *kir.Chain, draw int) error {
	t := c.State.Target()
	err := c.Finds(func(f kir.Find) error {
		if err := r.best.offerFind(t, draw, f); err != nil || r.fresh.known == nil {
			return err
		}
		return r.fresh.offerFind(t, draw, f)
	})
	c.Search(r.bar())
	return err
}

// exchange makes at most so many draws, an iteration each, and records them. It
// makes none if the chain cannot tell what it exchanges.
func (r *recorder) exchange(c *kir.Chain, draws int) (made int, err error) {
	before := c.Updated()
	made, n, err := c.Exchanges(r.exchanges[:draws])
	if err != nil || made == 0 {
		return made, err
	}
	r.part()
	ingredients, since, first, recorded := r.current.Ingredients, r.apart, r.draws-1, 0
	for _, e := range r.exchanges[:n] {
		p, at := e.Place, first+int(e.Iteration)
		r.presence.AddRun(int(e.Out), int(r.current.Amounts[p]), since[p], at)
		since[p], ingredients[p] = at, e.In
		if err := r.writer.Replace(int(e.Iteration)-1-recorded, int(p), e.In); err != nil {
			return made, err
		}
		recorded = int(e.Iteration)
	}
	r.draws += recorded
	r.same += recorded
	other := int(c.Updated()-before) - n // 0, or 1 for the last iteration
	if err := r.repeat(made - other - recorded); err != nil || other == 0 {
		return made, err
	}
	return made, r.next(c.State)
}

// part makes room for places to differ in since when they have what they have.
func (r *recorder) part() {
	if len(r.apart) > 0 {
		return
	}
	r.tellAlone()
	for range r.current.Ingredients {
		r.apart = append(r.apart, r.since)
	}
}

// endRun tells presence of the draws up to the last one that have what the
// current draw has at a place, after part.
func (r *recorder) endRun(p int) {
	r.presence.AddRun(int(r.current.Ingredients[p]), int(r.current.Amounts[p]), r.apart[p], r.draws)
	r.apart[p] = r.draws
}

// endRuns is endRun for all places, but that tellAlone may have to be called for
// presence to know.
func (r *recorder) endRuns() {
	switch {
	case len(r.apart) > 0:
		r.presence.AddRuns(r.current.Ingredients, r.current.Amounts, r.apart, r.draws)
	case r.draws == r.since+1:
		if len(r.alone) == 0 {
			r.firstAlone = r.since
		}
		r.alone = append(r.alone, len(r.current.Ingredients))
		r.at += len(r.current.Ingredients)
		if len(r.alone) == mostAlone {
			r.tellAlone()
		}
	case r.draws > r.since:
		r.tellAlone()
		for p, i := range r.current.Ingredients {
			r.presence.AddRun(int(i), int(r.current.Amounts[p]), r.since, r.draws)
		}
	}
	r.since, r.apart = r.draws, r.apart[:0]
}

// mostAlone is how many draws are told to presence together.
const mostAlone = 64

// tellAlone tells presence of the draws that stand alone.
func (r *recorder) tellAlone() {
	if len(r.alone) == 0 {
		return
	}
	n := 0
	for _, used := range r.alone {
		n += used
	}
	r.presence.AddDraws(r.ingredients[:n], r.amounts[:n], r.alone, r.firstAlone)
	r.alone = r.alone[:0]
	r.setCurrent(r.current.Ingredients, r.current.Amounts)
}

// setCurrent makes lists the current ones, when no draw stands alone.
func (r *recorder) setCurrent(ingredients, amounts []int32) {
	r.ingredients, r.amounts = append(r.ingredients[:0], ingredients...), append(r.amounts[:0], amounts...)
	r.current.Ingredients, r.current.Amounts, r.at = r.ingredients, r.amounts, 0
}

// repeat records n draws that equal the current one.
func (r *recorder) repeat(n int) error {
	r.draws += n
	r.same += n
	return r.writer.Repeat(n)
}

// tell adds to the series what they have not been told of.
func (r *recorder) tell() {
	if r.same == 0 {
		return
	}
	r.used.AddRun(float64(len(r.current.Ingredients)), r.same)
	r.density.AddRun(r.current.LogDensity, r.same)
	for k, s := range r.scores {
		s.AddRun(r.current.Scores[k], r.same)
	}
	if r.score != nil {
		r.score.AddRun(math.Exp(r.logScore), r.same)
	}
	r.same = 0
}

// next records a draw that may differ from the current one in anything.
func (r *recorder) next(x *kir.State) error {
	r.tell()
	renewed := r.renewed(x.Composition.Ingredients())
	before := len(r.current.Ingredients)
	if renewed {
		r.endRuns()
		r.copy(x.Composition)
	} else {
		r.follow(x.Composition)
	}
	if used := len(r.current.Ingredients); used != before {
		r.sizes.Set(r.draws, used)
	}
	r.logScore = x.LogScore()
	r.current.LogDensity = x.LogDensity()
	if len(r.scores) > 0 {
		r.current.Scores = x.AppendScores(r.current.Scores[:0])
		if err := x.CheckScores(r.current.Scores); err != nil {
			return err
		}
	}
	if r.settled = r.refused(); !r.settled {
		r.best.offer(r)
		if r.fresh.known != nil {
			r.fresh.offer(r)
		}
		r.settled = r.refused()
	}
	r.draws++
	r.same = 1
	if renewed {
		return r.writer.WriteNew(&r.current)
	}
	return r.writer.Write(&r.current, r.changed)
}

// refused says whether no shortlist wants the current draw, or a later one with
// the same numbers.
func (r *recorder) refused() bool {
	return r.best.refuses(r.logScore, r.current.LogDensity) &&
		(r.fresh.known == nil || r.fresh.refuses(r.logScore, r.current.LogDensity))
}

// renewed says whether a list looks like that of a draw made anew: it has others
// than the current one at three places. No small move changes as many, and where
// it is mistaken, more is written than need be.
func (r *recorder) renewed(list []int32) bool {
	have := r.current.Ingredients
	both := min(len(list), len(have))
	return both == 0 || list[0] != have[0] && list[both/2] != have[both/2] && list[both-1] != have[both-1]
}

// copy makes the current draw's lists those of x. It takes eight entries at a time,
// since the end of a loop over a list of a length that changes is mispredicted,
// but one by one: the chain has just stored them so, and wider loads would wait.
func (r *recorder) copy(x *kir.Composition) {
	list, amounts := x.Ingredients(), x.Amounts()
	n, from := len(list), r.at
	r.ingredients, r.amounts = slices.Grow(r.ingredients[:from], n)[:from+n], slices.Grow(r.amounts[:from], n)[:from+n]
	ingredients, have := r.ingredients[from:][:n], r.amounts[from:][:n]
	eights := n &^ 7
	for p := 0; p < eights; p += 8 {
		l, i, a := (*[8]int32)(list[p:]), (*[8]int32)(ingredients[p:]), (*[8]int32)(have[p:])
		i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7] = l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7]
		a[0], a[1], a[2], a[3] = amounts[l[0]], amounts[l[1]], amounts[l[2]], amounts[l[3]]
		a[4], a[5], a[6], a[7] = amounts[l[4]], amounts[l[5]], amounts[l[6]], amounts[l[7]]
	}
	for p := eights; p < n; p++ {
		i := list[p]
		ingredients[p], have[p] = i, amounts[i]
	}
	r.current.Ingredients, r.current.Amounts = ingredients, have
}

// follow is copy for a draw that has most in common with the current one. It
// notes in r.changed, in ascending order, the places at which the lists are not
// what they were, of those that they have and had before.
func (r *recorder) follow(x *kir.Composition) {
	r.part()
	list, amounts := x.Ingredients(), x.Amounts()
	ingredients, have := r.current.Ingredients, r.current.Amounts
	both := min(len(list), len(have))
	changed := slices.Grow(r.changed[:0], both)[:both]
	n := 0
	for p, i := range list[:both] {
		changed[n] = int32(p)
		if i != ingredients[p] || amounts[i] != have[p] {
			n++
		}
	}
	r.changed = changed[:n]
	for _, p := range r.changed {
		r.endRun(int(p))
		ingredients[p], have[p] = list[p], amounts[list[p]]
	}
	for p := both; p < len(have); p++ {
		r.endRun(p)
	}
	ingredients, have, r.apart = ingredients[:both], have[:both], r.apart[:both]
	for _, i := range list[both:] {
		ingredients, have, r.apart = append(ingredients, i), append(have, amounts[i]), append(r.apart, r.draws)
	}
	r.ingredients, r.amounts = ingredients, have
	r.current.Ingredients, r.current.Amounts = ingredients, have
}
