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
	since    []int         // by place: the first draw that has what current has there and that presence has not been told of
	logScore float64       // Σ c_k·log y_k there
	same     int           // draws whose numbers are current's and that no series has been told of
	settled  bool          // no shortlist wants a draw with current's numbers

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
				updated = c.Tally().Updated
				continue
			}
			exchanges = false
		}
		if r.score != nil {
			c.Search(r.bar())
		}
		if err := c.Advance(thin); err != nil {
			return err
		}
		d++
		if r.score != nil {
			if err := r.take(c, r.draws+repeats); err != nil {
				return err
			}
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
	return nil
}

// bar is the log score that what a chain finds must have to be of interest.
func (r *recorder) bar() float64 {
	if r.fresh.known == nil {
		return r.best.bar()
	}
	return min(r.best.bar(), r.fresh.bar())
}

// take considers what the chain found on its way to a draw.
func (r *recorder) take(c *kir.Chain, draw int) error {
	t := c.State.Target()
	return c.Finds(func(f kir.Find) error {
		if err := r.best.offerFind(t, draw, f); err != nil || r.fresh.known == nil {
			return err
		}
		return r.fresh.offerFind(t, draw, f)
	})
}

// exchange makes at most so many draws, an iteration each, and records them. It
// makes none if the chain cannot tell what it exchanges.
func (r *recorder) exchange(c *kir.Chain, draws int) (made int, err error) {
	before := c.Tally().Updated
	made, n, err := c.Exchanges(r.exchanges[:draws])
	if err != nil || made == 0 {
		return made, err
	}
	ingredients, first, recorded := r.current.Ingredients, r.draws-1, 0
	for _, e := range r.exchanges[:n] {
		p, at := e.Place, first+int(e.Iteration)
		r.presence.AddRun(int(e.Out), int(r.current.Amounts[p]), r.since[p], at)
		r.since[p], ingredients[p] = at, e.In
		if err := r.writer.Replace(int(e.Iteration)-1-recorded, int(p), e.In); err != nil {
			return made, err
		}
		recorded = int(e.Iteration)
	}
	r.draws += recorded
	r.same += recorded
	other := int(c.Tally().Updated-before) - n // 0, or 1 for the last iteration
	if err := r.repeat(made - other - recorded); err != nil || other == 0 {
		return made, err
	}
	return made, r.next(c.State)
}

// endRun tells presence of the draws up to the last one that have what the
// current draw has at a place.
func (r *recorder) endRun(p int) {
	r.presence.AddRun(int(r.current.Ingredients[p]), int(r.current.Amounts[p]), r.since[p], r.draws)
	r.since[p] = r.draws
}

// endRuns is endRun for all places.
func (r *recorder) endRuns() {
	r.presence.AddRuns(r.current.Ingredients, r.current.Amounts, r.since, r.draws)
	for p := range r.since {
		r.since[p] = r.draws
	}
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
	before := len(r.current.Ingredients)
	changed := r.follow(x.Composition)
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
	r.best.offer(r)
	if r.fresh.known != nil {
		r.fresh.offer(r)
	}
	r.settled = r.best.refuses(r.logScore, r.current.LogDensity) &&
		(r.fresh.known == nil || r.fresh.refuses(r.logScore, r.current.LogDensity))
	r.draws++
	r.same = 1
	return r.writer.Write(&r.current, changed)
}

// follow makes the current draw's lists those of x. It returns the places at which
// they are not what they were, of those that they have and had before, in
// ascending order.
func (r *recorder) follow(x *kir.Composition) []int32 {
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
	changed = changed[:n]
	if n == both {
		r.endRuns()
		ingredients, have = append(ingredients[:0], list[:both]...), have[:both]
		for p, i := range ingredients {
			have[p] = amounts[i]
		}
	} else {
		for _, p := range changed {
			r.endRun(int(p))
			ingredients[p], have[p] = list[p], amounts[list[p]]
		}
		for p := both; p < len(have); p++ {
			r.endRun(p)
		}
	}
	ingredients, have = ingredients[:both], have[:both]
	for _, i := range list[both:] {
		ingredients, have = append(ingredients, i), append(have, amounts[i])
	}
	for len(r.since) < len(list) {
		r.since = append(r.since, r.draws)
	}
	r.since = r.since[:len(list)]
	r.current.Ingredients, r.current.Amounts, r.changed = ingredients, have, changed
	return changed
}
