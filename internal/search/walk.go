package search

import (
	"context"
	"math"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/mcmc"
)

// A walker searches by simulated annealing along lines. A line is all ways to divide the units of two ingredients
// between them.
type walker struct {
	*searcher
	cursor  *mcmc.Cursor
	rand    *mcmc.Rand
	archive *Archive // best compositions of this walk alone

	// diversity holds the compositions from which the walk keeps a distance, and the best found that does. It is nil
	// if there is no such requirement.
	diversity *diversityFilter

	evaluations, compositions int64

	choices []choice
	weights []float64
	parts   []mcmc.Part
	values  []int32 // scratch: value of each condition
}

// A choice is a range of splits from ≤ k < to of a line that have equal log scores.
type choice struct {
	from, to int
	value    float64
}

func newWalker(s *searcher, start Found, r *mcmc.Rand) (*walker, error) {
	x, err := s.target.Space().Composition(start.Parts, start.Conditions)
	if err != nil {
		return nil, err
	}
	c, err := mcmc.NewCursor(s.target, x)
	if err != nil {
		return nil, err
	}
	w := &walker{searcher: s, cursor: c, rand: r, archive: newArchive(s.o.Niche, maxNiches)}
	w.archive.bar = s.archive.bar
	return w, nil
}

// The constants are values of β times spread, the standard deviation of random log scores. They thus suit any score.
// The final β is large because scores of forests change in small steps.
const (
	hottest = 3    // at the start of a walk from a seed
	warmest = 50   // at the start of a walk from a composition of the archive
	coldest = 3000 // at the end of every walk
)

// anneal makes the given number of steps while β rises geometrically between from/spread and to/spread.
func (w *walker) anneal(ctx context.Context, steps int, from, to float64) error {
	from, to = from/w.spread, to/w.spread
	rise := portable.Log(to / from)
	told := w.evaluations
	tell := func() {
		if w.o.LinesScored != nil {
			w.o.LinesScored.Add(w.evaluations - told)
			told = w.evaluations
		}
	}
	defer tell()
	for k := range steps {
		if k&255 == 0 {
			if err := browsersched.Err(ctx); err != nil {
				return err
			}
			tell()
		}
		beta := float64(from * portable.Exp(rise*float64(k)/float64(max(steps-1, 1))))
		if err := w.step(beta); err != nil {
			return err
		}
	}
	return nil
}

// count adds the lines and compositions that a walker has scored to the searcher's.
func (s *searcher) count(w *walker) {
	s.evaluations += w.evaluations
	s.compositions += w.compositions
}

// pairShare is the probability that both ingredients of a line are used ones. knownShare is the
// probability that the second is a preferred one, see [searcher.learn].
const (
	pairShare  = 0.35
	knownShare = 0.8
)

// drawPair draws the two ingredients of a line: a used one and another.
func (w *walker) drawPair() (i, j int) {
	used := w.cursor.Composition().Ingredients()
	i = int(used[w.rand.Intn(len(used))])
	switch {
	case len(used) > 1 && w.rand.Bernoulli(pairShare):
		j = int(used[w.rand.Intn(len(used))])
	case len(w.partners) > 0 && w.rand.Bernoulli(knownShare):
		j = int(w.partners[w.rand.Intn(len(w.partners))])
	default:
		j = int(w.limits.pool[w.rand.Intn(len(w.limits.pool))])
	}
	return i, j
}

// step scores a random line, draws one of its pieces with probability ∝ score^β, and moves to a random split of
// the piece.
func (w *walker) step(beta float64) error {
	if free := w.cursor.FreeConditions(); len(free) > 0 && w.rand.Bernoulli(setShare) {
		return w.set(free[w.rand.Intn(len(free))], beta)
	}
	i, j := w.drawPair()
	if i == j {
		return nil
	}
	x := w.cursor.Composition()
	s := x.Amount(i) + x.Amount(j)
	drawn, curved, err := w.scoreForStep(i, j, s, beta)
	if err != nil {
		return err
	}
	if len(w.choices) == 0 {
		return nil
	}
	w.offerBest(i, j, s)

	top := math.Inf(-1)
	for _, c := range w.choices {
		top = max(top, c.value)
	}
	w.weights = w.weights[:0]
	for _, c := range w.choices {
		w.weights = append(w.weights, portable.Exp(float64(beta*(c.value-top))))
	}
	c := w.choices[w.rand.Categorical(w.weights)]
	if curved && c.from > 0 && c.to <= s {
		c = drawn
	}
	k := c.from
	if c.to-c.from > 1 {
		k += w.rand.Intn(c.to - c.from)
	}
	if k != x.Amount(i) && (w.diversity == nil || w.diversity.allows(w.partsWith(i, j, s, k))) {
		w.cursor.Move(i, j, k, c.value)
	}
	return nil
}

// scoreForStep scores a line for step. If the scorer knows the line as a curve, curved is true: choices are then the
// two ends and the best inner split, which stands for all inner ones. drawn is an inner split drawn in proportion to
// score^β.
func (w *walker) scoreForStep(i, j, s int, beta float64) (drawn choice, curved bool, err error) {
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	if !w.limits.allowsSize(w.countOthers(i, j) + 2) {
		high = low
	}
	line, ok, err := w.cursor.Curve(w.rand, beta, i, j, low, high)
	if err != nil || !ok {
		if err == nil {
			err = w.scoreLine(i, j, s)
		}
		return drawn, false, err
	}
	w.evaluations++
	w.compositions += int64(s) + 1
	w.choices = w.choices[:0]
	w.chooseEnds(i, j, s, line.Zero, line.Full)
	if line.Best > 0 {
		w.add(line.Best, line.Best+1, line.BestScore)
	}
	return choice{line.Drawn, line.Drawn + 1, line.DrawnScore}, true, nil
}

// scoreLine scores the line of i and j, which share s units, and lists its choices.
func (w *walker) scoreLine(i, j, s int) error {
	p, err := w.cursor.Line(i, j)
	if err != nil {
		return err
	}
	w.evaluations++
	w.compositions += int64(s) + 1
	w.choose(p, i, j, s)
	return nil
}

// choose lists the allowed ranges of splits of a line with equal scores: first the ends k = 0 and k = s, then those
// between. It leaves out splits of score 0.
func (w *walker) choose(p *mcmc.Pieces, i, j, s int) {
	w.choices = w.choices[:0]
	last := p.Len() - 1
	_, zero := p.Piece(0)
	_, full := p.Piece(last)
	w.chooseEnds(i, j, s, zero, full)
	if !w.limits.allowsSize(w.countOthers(i, j) + 2) {
		return
	}
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	for q := 0; q <= last && low < high; q++ {
		from, value := p.Piece(q)
		to := s
		if q < last {
			to, _ = p.Piece(q + 1)
		}
		w.add(max(from, low), min(to, high), value)
	}
}

// chooseEnds lists those ends of a line that are allowed. zero and full are their log scores.
func (w *walker) chooseEnds(i, j, s int, zero, full float64) {
	if !w.limits.allowsSize(w.countOthers(i, j) + 1) {
		return
	}
	if w.limits.allows(j, int32(s)) {
		w.add(0, 1, zero)
	}
	if w.limits.allows(i, int32(s)) {
		w.add(s, s+1, full)
	}
}

// add lists a choice unless it is empty or its score is 0.
func (w *walker) add(from, to int, value float64) {
	if value > math.Inf(-1) && from < to {
		w.choices = append(w.choices, choice{from, to, value})
	}
}

// countOthers returns how many ingredients other than i and j are used.
func (w *walker) countOthers(i, j int) int {
	x := w.cursor.Composition()
	others := x.Used() - 1
	if x.Amount(i) > 0 && x.Amount(j) > 0 {
		others--
	}
	return others
}

// innerChoices returns the choices of a line other than its two ends.
func (w *walker) innerChoices(s int) []choice {
	ends := 0
	for ends < len(w.choices) && (w.choices[ends].from == 0 || w.choices[ends].from == s) {
		ends++
	}
	return w.choices[ends:]
}

// offerBest offers to the archive the best choice for each set of ingredients on the line. It offers the middle of
// the choice's range.
func (w *walker) offerBest(i, j, s int) {
	inner := -1
	for q, c := range w.choices {
		switch {
		case c.from == 0 || c.from == s:
			w.offer(i, j, s, c.from, c.value)
		case inner < 0 || c.value > w.choices[inner].value:
			inner = q
		}
	}
	if inner >= 0 {
		c := w.choices[inner]
		w.offer(i, j, s, (c.from+c.to-1)/2, c.value)
	}
}

// offer offers to the archive the composition with k units of i and s−k of j, unless some amount is not allowed.
func (w *walker) offer(i, j, s, k int, value float64) {
	archived := value > w.archive.bar
	if !archived && (w.diversity == nil || !(value > w.diversity.best.LogScore)) {
		return
	}
	x := w.cursor.Composition()
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j && !w.limits.allows(o, int32(x.Amount(o))) {
			return
		}
	}
	parts := w.partsWith(i, j, s, k)
	if w.refuses(parts) {
		return
	}
	if archived {
		w.archive.Offer(parts, w.conditions(), value)
	}
	if w.diversity != nil {
		w.diversity.offer(parts, w.conditions(), value)
	}
}

// partsWith returns the parts of the present composition with k units of i and s−k of j instead of the line's own,
// in no particular order. They are valid until the next call.
func (w *walker) partsWith(i, j, s, k int) []mcmc.Part {
	x := w.cursor.Composition()
	w.parts = w.parts[:0]
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j {
			w.parts = append(w.parts, mcmc.Part{Ingredient: o, Amount: x.Amount(o)})
		}
	}
	if k > 0 {
		w.parts = append(w.parts, mcmc.Part{Ingredient: i, Amount: k})
	}
	if k < s {
		w.parts = append(w.parts, mcmc.Part{Ingredient: j, Amount: s - k})
	}
	return w.parts
}
