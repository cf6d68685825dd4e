package search

import (
	"context"
	"math"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/mcmc"
)

// A walker searches by simulated annealing along lines. A line is the set of compositions that divide the joint
// units of two ingredients in all possible ways.
type walker struct {
	*searcher
	cursor  *mcmc.Cursor
	rand    *mcmc.Rand
	archive *Archive // best compositions of this walk alone

	// diversityFilter holds the compositions from which the walk must keep a distance, and the best composition found
	// that is far enough. It is nil if the walk need not keep a distance.
	diversityFilter *diversityFilter

	evaluations, compositions int64

	choices      []choice
	stepWeights  []float64
	partScratch  []mcmc.Part
	valueScratch []int32 // scratch of conditionValues: index of the value of each condition
}

// A choice is a range from ≤ k < to of splits of a line, or of values of a condition, that have equal log scores.
type choice struct {
	from, to int
	logScore float64
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
	w := &walker{searcher: s, cursor: c, rand: r, archive: newArchive(s.options.Niche, maxNiches)}
	w.archive.scoreToExceed = s.archive.scoreToExceed
	return w, nil
}

// These constants are values of β times the standard deviation of the log scores of random compositions, so they
// suit any score. The final β is large because scores of forests change in small steps.
const (
	seedStartBeta    = 3    // at the start of a walk from a seed
	archiveStartBeta = 50   // at the start of a walk from a composition of the archive
	endBeta          = 3000 // at the end of every walk
)

// anneal makes the given number of steps while β increases geometrically from from/scoreSD to to/scoreSD.
func (w *walker) anneal(ctx context.Context, steps int, from, to float64) error {
	from, to = from/w.scoreSD, to/w.scoreSD
	rise := portable.Log(to / from)
	told := w.evaluations
	tell := func() {
		if w.options.LinesScored != nil {
			w.options.LinesScored.Add(w.evaluations - told)
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
		if err := w.annealStep(beta); err != nil {
			return err
		}
	}
	return nil
}

// addCounts adds the numbers of lines and compositions that a walker has scored to the numbers of the searcher.
func (s *searcher) addCounts(w *walker) {
	s.evaluations += w.evaluations
	s.compositions += w.compositions
}

// usedPairProbability is the probability that both ingredients of a line are drawn from the used ingredients.
// Otherwise partnerProbability is the probability that the second ingredient is drawn from the preferred
// ingredients; see [searcher.updatePartners].
const (
	usedPairProbability = 0.35
	partnerProbability  = 0.8
)

// drawPair draws the two ingredients of a line: a used ingredient and another ingredient. The two can be equal.
func (w *walker) drawPair() (i, j int) {
	used := w.cursor.Composition().Ingredients()
	i = int(used[w.rand.Intn(len(used))])
	switch {
	case len(used) > 1 && w.rand.Bernoulli(usedPairProbability):
		j = int(used[w.rand.Intn(len(used))])
	case len(w.partnerPool) > 0 && w.rand.Bernoulli(partnerProbability):
		j = int(w.partnerPool[w.rand.Intn(len(w.partnerPool))])
	default:
		j = int(w.limits.allowedIngredients[w.rand.Intn(len(w.limits.allowedIngredients))])
	}
	return i, j
}

// annealStep makes one step of annealing. It scores a random line, draws one of the pieces of equal scores with
// probability ∝ score^β, and moves to a random split of this piece. With some probability it sets a condition
// instead.
func (w *walker) annealStep(beta float64) error {
	if free := w.cursor.MultiValuedConditions(); len(free) > 0 && w.rand.Bernoulli(conditionStepProbability) {
		return w.stepCondition(free[w.rand.Intn(len(free))], beta)
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
	w.offerBestChoices(i, j, s)

	top := math.Inf(-1)
	for _, c := range w.choices {
		top = max(top, c.logScore)
	}
	w.stepWeights = w.stepWeights[:0]
	for _, c := range w.choices {
		w.stepWeights = append(w.stepWeights, portable.Exp(float64(beta*(c.logScore-top))))
	}
	c := w.choices[w.rand.Categorical(w.stepWeights)]
	if curved && c.from > 0 && c.to <= s {
		c = drawn
	}
	k := c.from
	if c.to-c.from > 1 {
		k += w.rand.Intn(c.to - c.from)
	}
	if k != x.Amount(i) && (w.diversityFilter == nil || w.diversityFilter.isFarEnough(w.partsWithSplit(i, j, s, k))) {
		w.cursor.Move(i, j, k, c.logScore)
	}
	return nil
}

// scoreForStep scores a line for annealStep. If the scorer knows the line as a curve, curved is true. The choices
// are then the two ends and the best inner split, which stands for all inner splits, and drawn is an inner split
// drawn in proportion to score^β.
func (w *walker) scoreForStep(i, j, s int, beta float64) (drawn choice, curved bool, err error) {
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	if !w.limits.allowsSize(w.countOtherIngredients(i, j) + 2) {
		high = low
	}
	line, ok, err := w.cursor.BestAndDrawnSplit(w.rand, beta, i, j, low, high)
	if err != nil || !ok {
		if err == nil {
			err = w.scoreLine(i, j, s)
		}
		return drawn, false, err
	}
	w.evaluations++
	w.compositions += int64(s) + 1
	w.choices = w.choices[:0]
	w.listEndChoices(i, j, s, line.ZeroScore, line.FullScore)
	if line.BestSplit > 0 {
		w.addChoice(line.BestSplit, line.BestSplit+1, line.BestScore)
	}
	return choice{line.DrawnSplit, line.DrawnSplit + 1, line.DrawnScore}, true, nil
}

// scoreLine scores the line of i and j, whose joint amount is s units, and lists its choices.
func (w *walker) scoreLine(i, j, s int) error {
	p, err := w.cursor.LineScores(i, j)
	if err != nil {
		return err
	}
	w.evaluations++
	w.compositions += int64(s) + 1
	w.listChoices(p, i, j, s)
	return nil
}

// listChoices lists the allowed ranges of splits of a line with equal scores: first the ends k = 0 and k = s, then
// the ranges between the ends. It leaves out splits of score 0.
func (w *walker) listChoices(p *mcmc.PiecewiseConstant, i, j, s int) {
	w.choices = w.choices[:0]
	last := p.Len() - 1
	_, zero := p.Piece(0)
	_, full := p.Piece(last)
	w.listEndChoices(i, j, s, zero, full)
	if !w.limits.allowsSize(w.countOtherIngredients(i, j) + 2) {
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
		w.addChoice(max(from, low), min(to, high), value)
	}
}

// listEndChoices lists the allowed ends of a line as choices. zero and full are the log scores of the splits k = 0 and k
// = s.
func (w *walker) listEndChoices(i, j, s int, zero, full float64) {
	if !w.limits.allowsSize(w.countOtherIngredients(i, j) + 1) {
		return
	}
	if w.limits.allowsAmount(j, int32(s)) {
		w.addChoice(0, 1, zero)
	}
	if w.limits.allowsAmount(i, int32(s)) {
		w.addChoice(s, s+1, full)
	}
}

// addChoice lists a choice, unless its range is empty or its score is 0.
func (w *walker) addChoice(from, to int, value float64) {
	if value > math.Inf(-1) && from < to {
		w.choices = append(w.choices, choice{from, to, value})
	}
}

// countOtherIngredients returns how many ingredients other than i and j are used.
func (w *walker) countOtherIngredients(i, j int) int {
	x := w.cursor.Composition()
	others := x.Used() - 1
	if x.Amount(i) > 0 && x.Amount(j) > 0 {
		others--
	}
	return others
}

// innerChoices returns the choices of a line without its two ends.
func (w *walker) innerChoices(s int) []choice {
	ends := 0
	for ends < len(w.choices) && (w.choices[ends].from == 0 || w.choices[ends].from == s) {
		ends++
	}
	return w.choices[ends:]
}

// offerBestChoices offers to the archive the best choice for each set of ingredients on the line. From a choice it takes
// the middle of the range of splits.
func (w *walker) offerBestChoices(i, j, s int) {
	inner := -1
	for q, c := range w.choices {
		switch {
		case c.from == 0 || c.from == s:
			w.offerSplit(i, j, s, c.from, c.logScore)
		case inner < 0 || c.logScore > w.choices[inner].logScore:
			inner = q
		}
	}
	if inner >= 0 {
		c := w.choices[inner]
		w.offerSplit(i, j, s, (c.from+c.to-1)/2, c.logScore)
	}
}

// offerSplit offers to the archive the composition with k units of i and s−k units of j, unless some amount is not
// allowed.
func (w *walker) offerSplit(i, j, s, k int, value float64) {
	archived := value > w.archive.scoreToExceed
	if !archived && (w.diversityFilter == nil || !(value > w.diversityFilter.bestFound.LogScore)) {
		return
	}
	x := w.cursor.Composition()
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j && !w.limits.allowsAmount(o, int32(x.Amount(o))) {
			return
		}
	}
	parts := w.partsWithSplit(i, j, s, k)
	if w.refusesIngredients(parts) {
		return
	}
	if archived {
		w.archive.Offer(parts, w.conditionValues(), value)
	}
	if w.diversityFilter != nil {
		w.diversityFilter.offer(parts, w.conditionValues(), value)
	}
}

// partsWithSplit returns the parts of the present composition, in no particular order, with k units of i and s−k units
// of j instead of the present amounts of i and j. The parts are valid until the next call.
func (w *walker) partsWithSplit(i, j, s, k int) []mcmc.Part {
	x := w.cursor.Composition()
	w.partScratch = w.partScratch[:0]
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j {
			w.partScratch = append(w.partScratch, mcmc.Part{Ingredient: o, Amount: x.Amount(o)})
		}
	}
	if k > 0 {
		w.partScratch = append(w.partScratch, mcmc.Part{Ingredient: i, Amount: k})
	}
	if k < s {
		w.partScratch = append(w.partScratch, mcmc.Part{Ingredient: j, Amount: s - k})
	}
	return w.partScratch
}
