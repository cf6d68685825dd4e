package search

import (
	"context"
	"math"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/mcmc"
)

// A walker searches for good compositions by simulated annealing. Each step scores all divisions of the joint
// amount of two ingredients (a line) and draws one of them.
type walker struct {
	*searcher
	cursor  *mcmc.Cursor
	rand    *mcmc.Rand
	archive *Archive // best compositions that this walk alone has found

	// diversityFilter holds compositions from which the walk must keep a minimum distance. It also records the
	// best composition found at this distance. It is nil if there are no such compositions.
	diversityFilter *diversityFilter

	evaluations  int64 // number of lines and single compositions scored
	compositions int64 // number of compositions on the scored lines

	// choices holds the ranges of splits, or of values of a condition, from which the next step draws.
	choices      []scoredRange
	stepWeights  []float64
	partScratch  []mcmc.Part
	valueScratch []int32 // scratch of conditionValues: item c is the index of the value of condition c
}

// A choice is a range from ≤ k < to with equal log scores, from which a step of a walk can draw. k is the units
// of one of two ingredients that divide a joint amount, or the index of a value of a condition.
type scoredRange struct {
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

// These constants are values of β, to which scores are raised in a walk, multiplied by the standard deviation
// of the log scores of random compositions. Hence they suit any objective. The final β is large because the
// scores of forests change in small steps.
const (
	seedStartBeta    = 3    // at the start of a walk from a seed
	archiveStartBeta = 50   // at the start of a walk from a composition of the archive
	endBeta          = 3000 // at the end of every walk
)

// anneal makes the given number of steps of a walk. β increases geometrically from startBeta/scoreSD to
// finalBeta/scoreSD, where scoreSD is the standard deviation of the log scores of random compositions.
func (w *walker) anneal(ctx context.Context, steps int, startBeta, finalBeta float64) error {
	startBeta, finalBeta = startBeta/w.scoreSD, finalBeta/w.scoreSD
	rise := portable.Log(finalBeta / startBeta)
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
		beta := float64(startBeta * portable.Exp(rise*float64(k)/float64(max(steps-1, 1))))
		if err := w.annealStep(beta); err != nil {
			return err
		}
	}
	return nil
}

// A step of a walk draws two ingredients, whose joint amount it divides differently. bothUsedProbability is the
// probability that both are drawn from the used ingredients. Otherwise partnerProbability is the probability
// that the second ingredient is drawn from the ingredients of the best compositions; see
// [searcher.updatePartners].
const (
	bothUsedProbability = 0.35
	partnerProbability  = 0.8
)

// drawPair draws two ingredients, whose joint amount the next step divides differently: a used ingredient and
// another ingredient. If the two are equal, the step does nothing.
func (w *walker) drawPair() (i, j int) {
	used := w.cursor.Composition().Ingredients()
	i = int(used[w.rand.Intn(len(used))])
	switch {
	case len(used) > 1 && w.rand.Bernoulli(bothUsedProbability):
		j = int(used[w.rand.Intn(len(used))])
	case len(w.partnerPool) > 0 && w.rand.Bernoulli(partnerProbability):
		j = int(w.partnerPool[w.rand.Intn(len(w.partnerPool))])
	default:
		j = int(w.limits.allowedIngredients[w.rand.Intn(len(w.limits.allowedIngredients))])
	}
	return i, j
}

// annealStep makes one step of a walk. It scores all divisions of the joint amount of two random ingredients.
// It draws a range of divisions with equal scores, with probability ∝ score^β, and a random division in this
// range. With some probability it sets a condition instead.
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

// scoreForStep scores the divisions of s units between ingredients i and j for annealStep, and lists the
// choices. There are two cases:
//   - curved is false: every range of divisions with equal scores is a choice.
//   - curved is true, if the scorer is a [mcmc.CurveScorer]: the choices are the two ends and the best division
//     between them. The latter stands for all divisions between the ends. If the step draws it, it must use
//     drawn instead, which was drawn among these with probability ∝ score^β.
func (w *walker) scoreForStep(i, j, s int, beta float64) (drawn scoredRange, curved bool, err error) {
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	if !w.limits.allowsIngredientCount(w.countOtherIngredients(i, j) + 2) {
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
	return scoredRange{line.DrawnSplit, line.DrawnSplit + 1, line.DrawnScore}, true, nil
}

// scoreLine scores all divisions of s units, the joint amount of ingredients i and j, and lists the ranges with
// equal scores as choices.
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

// listChoices lists the allowed divisions of s units between ingredients i and j, as ranges with equal scores.
// The ends, where i has 0 or s units, come first. Divisions of score 0 are left out. p holds the log scores.
func (w *walker) listChoices(p *mcmc.PiecewiseConstant, i, j, s int) {
	w.choices = w.choices[:0]
	last := p.Len() - 1
	_, zero := p.Piece(0)
	_, full := p.Piece(last)
	w.listEndChoices(i, j, s, zero, full)
	if !w.limits.allowsIngredientCount(w.countOtherIngredients(i, j) + 2) {
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

// listEndChoices lists as choices the two divisions of s units that give all units to one of the ingredients i
// and j, if they are allowed. zero is the log score if ingredient i has none of the s units, and full the log
// score if i has all of them.
func (w *walker) listEndChoices(i, j, s int, zero, full float64) {
	if !w.limits.allowsIngredientCount(w.countOtherIngredients(i, j) + 1) {
		return
	}
	if w.limits.allowsAmount(j, int32(s)) {
		w.addChoice(0, 1, zero)
	}
	if w.limits.allowsAmount(i, int32(s)) {
		w.addChoice(s, s+1, full)
	}
}

// addChoice lists the range from ≤ k < to with the log score value as a choice, unless the range is empty or
// its score is 0.
func (w *walker) addChoice(from, to int, value float64) {
	if value > math.Inf(-1) && from < to {
		w.choices = append(w.choices, scoredRange{from, to, value})
	}
}

// countOtherIngredients returns how many used ingredients there are besides i and j.
func (w *walker) countOtherIngredients(i, j int) int {
	x := w.cursor.Composition()
	others := x.UsedCount() - 1
	if x.Amount(i) > 0 && x.Amount(j) > 0 {
		others--
	}
	return others
}

// choicesUsingBoth returns the listed choices in which both ingredients have a positive amount. s is the joint
// amount of the two ingredients.
func (w *walker) choicesUsingBoth(s int) []scoredRange {
	ends := 0
	for ends < len(w.choices) && (w.choices[ends].from == 0 || w.choices[ends].from == s) {
		ends++
	}
	return w.choices[ends:]
}

// offerBestChoices offers to the archive the best division of s units between ingredients i and j for each set
// of used ingredients: only i, only j, or both. Of a range with equal scores it offers the middle.
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

// offerSplit offers to the archive the present composition, but with k units of i and s−k units of j, unless
// some amount is not allowed. value is its log score.
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
		w.diversityFilter.offerComposition(parts, w.conditionValues(), value)
	}
}

// partsWithSplit returns the present composition, but with k units of i and s−k units of j, as a list of parts
// in no particular order. The list is valid until the next call.
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
