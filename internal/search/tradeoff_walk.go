package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"kir/internal/pareto"
	"kir/internal/portable"
	"kir/mcmc"
)

// A frontWalker makes the walks of one search of [TradeOff] for the best compromises between several losses.
// Each step changes the division of the joint amount of two ingredients. The walker keeps the compositions that
// no other composition beats in every loss.
type frontWalker struct {
	*frontSearch
	scalarization *scalarization
	cursor        *mcmc.Cursor
	rand          *mcmc.Rand
	archive       *paretoArchive

	partnerPool []int32 // ingredients of the compositions of the archive, each as often as it occurs there; steps prefer to draw from these

	maxOfferedSplits    int   // greatest number of splits of a line that are offered to the archive, not counting the two ends of the line
	lineCount           int64 // number of lines scored
	splitCount          int64 // number of compositions on the scored lines
	linesAtContextCheck int64 // value of lineCount when the context was last checked

	choices             []scoredRange
	stepWeights         []float64
	partScratch         []mcmc.Part
	scoredAroundMembers map[*mcmc.Part]bool // set of members around which lines have been scored; the key is the address of the first part
	gapWalkCounts       map[[2]int]int      // maps a gap of the front to the number of walks that aimed at it; the key is the rounded first losses of the two ends
}

func (t *frontSearch) newFrontWalker(index uint64) (*frontWalker, error) {
	m := len(t.objectives)
	w := &frontWalker{
		frontSearch: t, rand: mcmc.NewRand(t.options.Seed, "search trade", 1+index), archive: newParetoArchive(t.objectives), maxOfferedSplits: maxOfferedInWalks, scoredAroundMembers: make(map[*mcmc.Part]bool),
		scalarization: &scalarization{recordsLastScorer: true, objectives: t.objectives, corner: make([]float64, m), weights: make([]float64, m), scales: make([]float64, m)},
	}
	for _, c := range t.target.Space().Conditions() {
		w.scalarization.conditionValueCounts = append(w.scalarization.conditionValueCounts, len(c.Weights))
	}
	for d, width := range t.seedLossRanges {
		w.scalarization.weights[d], w.scalarization.scales[d] = 1/width, 1/width
	}
	target, err := t.target.WithObjectives(mcmc.Objective{Name: "trade-off", Property: w.scalarization, Weight: 1})
	if err != nil {
		return nil, err
	}
	x, err := t.target.Space().Composition(t.startCandidates[0].Parts, t.startCandidates[0].Conditions)
	if err != nil {
		return nil, err
	}
	if w.cursor, err = mcmc.NewCursor(target, x); err != nil {
		return nil, err
	}
	for _, s := range t.startCandidates {
		if x, err = t.target.Space().Composition(s.Parts, s.Conditions); err != nil {
			return nil, err
		}
		if t.limits.allowsAllAmounts(x) && !t.refusesIngredients(s.Parts) {
			w.archive.offer(s.Losses, s.Parts, s.Conditions)
		}
	}
	return w, nil
}

// moveTo sets the walker to the composition m and computes its combined score; see [scalarization].
func (w *frontWalker) moveTo(m FrontMember) error {
	x, err := w.target.Space().Composition(m.Parts, m.Conditions)
	if err != nil {
		return err
	}
	return w.cursor.Set(x)
}

// Each walk of a [frontWalker] scores frontWalkLines lines. β, which multiplies the combined score, increases
// from frontStartBeta to frontEndBeta. The combined score has a range of about 1.
const (
	frontWalkLines = 250
	frontStartBeta = 4
	frontEndBeta   = 2000
)

// explore first searches for the best composition of each loss. It then makes walks that aim at wide gaps of
// the front, until maxLines lines have been scored in total.
func (w *frontWalker) explore(ctx context.Context, maxLines int64) error {
	leg := min(frontWalkLines, max(int(maxLines-w.lineCount)/12, 20))
	for d := range w.objectives {
		w.aimAtLoss(d)
		if err := w.walk(ctx, w.bestStart(), 2*leg, frontStartBeta, frontEndBeta); err != nil {
			return err
		}
	}
	if w.gapWalkCounts == nil {
		w.gapWalkCounts = make(map[[2]int]int)
	}
	for round := 0; w.lineCount < maxLines; round++ {
		w.updatePartners()
		from, gap := w.aimAtGap(round)
		switch { // Some walks start elsewhere, because the compositions found may be much alike.
		case round%6 == 5:
			from, gap = w.startCandidates[w.rand.Intn(len(w.startCandidates))], 1
		case round%6 == 2 && len(w.archive.members) > 0:
			from = w.archive.members[w.rand.Intn(len(w.archive.members))]
		}
		if err := w.walk(ctx, from, leg, max(5*frontStartBeta*gap, frontStartBeta/10.), frontEndBeta); err != nil {
			return err
		}
	}
	return nil
}

// bestStart returns the composition of the archive with the best combined score. If the archive is empty, it
// returns the best seed.
func (w *frontWalker) bestStart() FrontMember {
	list := w.archive.members
	if len(list) == 0 {
		list = w.startCandidates
	}
	best, at := math.Inf(-1), 0
	for k, m := range list {
		if score := w.scalarization.combineLosses(m.Losses); score > best {
			best, at = score, k
		}
	}
	return list[at]
}

// lossRanges returns two slices: item k is the least value of loss k on the front, and the range of its values.
// For a loss that is constant on the front, the range is the range among the starts.
func (w *frontWalker) lossRanges() (ideal, width []float64) {
	list := w.archive.members
	if len(list) == 0 {
		list = w.startCandidates
	}
	ideal, nadir := pareto.Bounds(lossesOf(list))
	width = make([]float64, len(ideal))
	for d := range width {
		if width[d] = nadir[d] - ideal[d]; !(width[d] > 0) {
			width[d] = w.seedLossRanges[d]
		}
	}
	return ideal, width
}

// aimAtLoss sets the corner and the weights of the combined score so that walks minimise loss d alone; see
// [scalarization].
func (w *frontWalker) aimAtLoss(d int) {
	ideal, width := w.lossRanges()
	for k := range ideal {
		w.scalarization.corner[k], w.scalarization.scales[k], w.scalarization.weights[k] = ideal[k], 1/width[k], 0
	}
	w.scalarization.weights[d] = 1 / width[d]
}

// aimAtGap sets the corner and the weights of the combined score so that a walk looks for compositions in a
// wide gap of the front; see [scalarization]. It prefers gaps at which fewer walks have aimed. It returns the
// composition from which the walk should start, and the width of the gap as a fraction of the range of the
// front.
func (w *frontWalker) aimAtGap(round int) (from FrontMember, gap float64) {
	ideal, width := w.lossRanges()
	if len(w.objectives) > 2 || len(w.archive.members) < 2 {
		return w.aimAtRandom(ideal, width), 0.3
	}
	list := w.archive.members
	best, at, which := -1.0, 1, [2]int{}
	for k := 1; k < len(list); k++ {
		a, b := list[k-1].Losses, list[k].Losses
		size := math.Sqrt(max(float64(float64((b[0]-a[0])/width[0])*float64((a[1]-b[1])/width[1])), 0))
		// The map counts gaps by the position of their ends, to 1/512 of the range.
		cell := [2]int{int((a[0] - ideal[0]) / width[0] * 512), int((b[0] - ideal[0]) / width[0] * 512)}
		size /= float64(1 + w.gapWalkCounts[cell])
		if size > best {
			best, at, which = size, k, cell
		}
	}
	w.gapWalkCounts[which]++
	a, b := list[at-1], list[at]
	for d := range ideal {
		side := math.Abs(a.Losses[d] - b.Losses[d])
		w.scalarization.corner[d] = min(a.Losses[d], b.Losses[d])
		w.scalarization.weights[d] = 1 / max(side, float64(1e-6*width[d]))
		w.scalarization.scales[d] = w.scalarization.weights[d]
	}
	share := math.Sqrt(float64(float64((b.Losses[0]-a.Losses[0])/width[0]) * float64((a.Losses[1]-b.Losses[1])/width[1])))
	if round%2 == 0 {
		return a, share
	}
	return b, share
}

// aimAtRandom sets the corner of the combined score to the least losses, and the weights to random numbers; see
// [scalarization]. It returns the composition of the archive with the best combined score.
func (w *frontWalker) aimAtRandom(ideal, width []float64) FrontMember {
	sum := 0.0
	share := make([]float64, len(ideal))
	for d := range share {
		u := float64((float64(w.rand.Intn(1<<30)) + 0.5) / (1 << 30))
		share[d] = -portable.Log(u) // normalised exponential variables are uniform on the simplex
		sum += share[d]
	}
	for d := range share {
		w.scalarization.corner[d] = ideal[d]
		w.scalarization.weights[d] = max(share[d]/sum, 1e-3) / width[d]
		w.scalarization.scales[d] = 1 / width[d]
	}
	return w.bestStart()
}

// updatePartners makes steps prefer the ingredients of the compositions in the archive.
func (w *frontWalker) updatePartners() {
	w.partnerPool = w.partnerPool[:0]
	step := max(len(w.archive.members)/100, 1)
	for k := 0; k < len(w.archive.members); k += step {
		for _, p := range w.archive.members[k].Parts {
			w.partnerPool = append(w.partnerPool, int32(p.Ingredient))
		}
	}
}

// walk makes the given number of steps, starting from a composition. β, by which combined scores are
// multiplied, increases geometrically from startBeta to finalBeta.
func (w *frontWalker) walk(ctx context.Context, from FrontMember, steps int, startBeta, finalBeta float64) error {
	if err := w.moveTo(from); err != nil {
		return err
	}
	rise := portable.Log(finalBeta / startBeta)
	for k := range steps {
		if err := w.checkContext(ctx); err != nil {
			return err
		}
		beta := float64(startBeta * portable.Exp(rise*float64(k)/float64(max(steps-1, 1))))
		if free := w.cursor.MultiValuedConditions(); len(free) > 0 && w.rand.Bernoulli(conditionStepProbability) {
			if err := w.stepCondition(free[w.rand.Intn(len(free))], beta); err != nil {
				return err
			}
			continue
		}
		i, j := w.drawPair()
		if i == j {
			continue
		}
		if err := w.scoreLine(i, j); err != nil {
			return err
		}
		w.stepToSplit(i, j, beta)
	}
	return nil
}

// checkContext returns the error of a context that has ended, and otherwise nil. To save time it looks at the
// context only once in 64 lines.
func (w *frontWalker) checkContext(ctx context.Context) error {
	if w.lineCount-w.linesAtContextCheck < 64 {
		return nil
	}
	w.linesAtContextCheck = w.lineCount
	return ctx.Err()
}

// drawPair draws two ingredients, whose joint amount the next step divides differently: a used ingredient and
// another ingredient. If the two are equal, the step does nothing.
func (w *frontWalker) drawPair() (i, j int) {
	used := w.cursor.Composition().Ingredients()
	i = int(used[w.rand.Intn(len(used))])
	switch {
	case len(used) > 1 && w.rand.Bernoulli(bothUsedProbability):
		j = int(used[w.rand.Intn(len(used))])
	case len(w.partnerPool) > 0 && w.rand.Bernoulli(0.5):
		j = int(w.partnerPool[w.rand.Intn(len(w.partnerPool))])
	default:
		j = int(w.limits.allowedIngredients[w.rand.Intn(len(w.limits.allowedIngredients))])
	}
	return i, j
}

// maxOfferedInWalks and maxOfferedAroundFront limit how many compositions of a line, besides its two ends, are
// offered to the archive if there are more than two losses. maxOfferedInWalks applies to the lines of walks,
// and maxOfferedAroundFront to the lines around compositions of the front.
const maxOfferedInWalks, maxOfferedAroundFront = 8, 200

// scoreLine scores all divisions of the joint amount of ingredients i and j. It lists the ranges of allowed
// divisions as choices for the next step, and offers them to the archive.
func (w *frontWalker) scoreLine(i, j int) error {
	x := w.cursor.Composition()
	s := x.Amount(i) + x.Amount(j)
	p, err := w.cursor.LineScores(i, j)
	if err != nil {
		return err
	}
	w.lineCount++
	w.splitCount += int64(s) + 1
	w.choices = w.choices[:0]
	others := x.UsedCount() - 1
	if x.Amount(i) > 0 && x.Amount(j) > 0 {
		others--
	}
	clean := true // whether the amounts of all other ingredients are allowed
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j && !w.limits.allowsAmount(o, int32(x.Amount(o))) {
			clean = false
		}
	}
	ends, inner := w.limits.allowsIngredientCount(others+1), w.limits.allowsIngredientCount(others+2)
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	at := 0 // index of the piece of losses that contains the split
	for q := range p.Len() {
		from, value := p.Piece(q)
		to := s + 1
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		for at+1 < len(w.scalarization.lastScorer.pieceFirstSplits) && w.scalarization.lastScorer.pieceFirstSplits[at+1] <= from {
			at++
		}
		if !(value > math.Inf(-1)) || math.IsInf(value, 1) {
			continue
		}
		losses := w.scalarization.lastScorer.lossesOfPiece(at)
		add := func(from, to int) {
			if from >= to {
				return
			}
			w.choices = append(w.choices, scoredRange{from, to, value})
			if clean && len(losses) == 2 {
				w.offerSplit(i, j, s, (from+to-1)/2, losses)
			}
		}
		if from == 0 && ends && w.limits.allowsAmount(j, int32(s)) {
			add(0, 1)
		}
		if inner {
			add(max(from, low), min(to, high))
		}
		if to == s+1 && s > 0 && ends && w.limits.allowsAmount(i, int32(s)) {
			add(s, s+1)
		}
	}
	if clean && len(w.objectives) > 2 {
		w.offerBestSplits(i, j, s)
	}
	return nil
}

// offerBestSplits offers to the archive the divisions of s units between ingredients i and j with the best
// combined scores, and the two ends.
func (w *frontWalker) offerBestSplits(i, j, s int) {
	order := make([]int, len(w.choices))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.choices[b].logScore, w.choices[a].logScore) })
	for rank, k := range order {
		c := w.choices[k]
		if rank < w.maxOfferedSplits || c.from == 0 || c.from == s {
			at, found := slices.BinarySearch(w.scalarization.lastScorer.pieceFirstSplits, c.from)
			if !found {
				at--
			}
			w.offerSplit(i, j, s, (c.from+c.to-1)/2, w.scalarization.lastScorer.lossesOfPiece(at))
		}
	}
}

// offerSplit offers to the archive the composition with k units of i and s−k units of j.
func (w *frontWalker) offerSplit(i, j, s, k int, losses []float64) {
	if !w.archive.isNondominated(losses) {
		return
	}
	parts := w.partsWithSplit(i, j, s, k)
	if w.refusesIngredients(parts) {
		return
	}
	w.archive.offer(losses, parts, w.cursor.Composition().AppendConditions(nil))
}

// scoreValues scores all values of a condition. It lists them as choices for the next step, and offers them to
// the archive.
func (w *frontWalker) scoreValues(condition int) error {
	p, err := w.cursor.ConditionScores(condition)
	if err != nil {
		return err
	}
	x := w.cursor.Composition()
	last := len(w.target.Space().Conditions()[condition].Weights)
	w.lineCount++
	w.splitCount += int64(last)
	w.choices = w.choices[:0]
	clean := w.limits.allowsIngredientCount(x.UsedCount()) && w.limits.allowsAllAmounts(x) && !w.refusesIngredients(x.Parts())
	at := 0 // index of the piece of losses that contains the split
	for q := range p.Len() {
		from, value := p.Piece(q)
		to := last
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		for at+1 < len(w.scalarization.lastScorer.pieceFirstSplits) && w.scalarization.lastScorer.pieceFirstSplits[at+1] <= from {
			at++
		}
		if !(value > math.Inf(-1)) {
			continue
		}
		c := scoredRange{from, to, value}
		w.choices = append(w.choices, c)
		if losses := w.scalarization.lastScorer.lossesOfPiece(at); clean && w.archive.isNondominated(losses) {
			conditions := x.AppendConditions(nil)
			conditions[condition] = int32(middleIndex(c))
			w.archive.offer(losses, x.Parts(), conditions)
		}
	}
	return nil
}

// stepCondition scores the values of a condition and sets the condition to one of them, drawn with probability ∝
// exp(β·score).
func (w *frontWalker) stepCondition(condition int, beta float64) error {
	if err := w.scoreValues(condition); err != nil || len(w.choices) == 0 {
		return err
	}
	w.stepWeights = drawConditionValue(w.cursor, w.rand, condition, w.choices, beta, w.stepWeights)
	return nil
}

// partsWithSplit returns the present composition, but with k units of i and s−k units of j, as a list of parts.
// The list is valid until the next call.
func (w *frontWalker) partsWithSplit(i, j, s, k int) []mcmc.Part {
	of := walker{cursor: w.cursor, partScratch: w.partScratch}
	w.partScratch = of.partsWithSplit(i, j, s, k)
	return w.partScratch
}

// stepToSplit gives ingredients i and j one of the listed divisions of their joint amount, drawn with
// probability ∝ exp(β·score).
func (w *frontWalker) stepToSplit(i, j int, beta float64) {
	if len(w.choices) == 0 {
		return
	}
	top := math.Inf(-1)
	for _, c := range w.choices {
		top = max(top, c.logScore)
	}
	w.stepWeights = w.stepWeights[:0]
	for _, c := range w.choices {
		w.stepWeights = append(w.stepWeights, portable.Exp(float64(beta*(c.logScore-top))))
	}
	c := w.choices[w.rand.Categorical(w.stepWeights)]
	k := c.from
	if c.to-c.from > 1 {
		k += w.rand.Intn(c.to - c.from)
	}
	if k != w.cursor.Composition().Amount(i) {
		w.cursor.Move(i, j, k, c.logScore)
	}
}

// searchExtremes searches for the least value of each loss by [Best].
func (w *frontWalker) searchExtremes(ctx context.Context, lines int) error {
	for d := range w.objectives {
		w.aimAtLoss(d)
		score := scalarization{objectives: w.objectives, conditionValueCounts: w.scalarization.conditionValueCounts, corner: w.scalarization.corner, weights: w.scalarization.weights, scales: w.scalarization.scales}
		steep, err := w.target.WithObjectives(mcmc.Objective{Name: w.objectives[d].Name, Property: &score, Weight: 30})
		if err != nil {
			return err
		}
		o := Options{
			Evaluations: max(lines/len(w.objectives), 1), Seed: w.options.Seed, Workers: w.options.Workers, Least: w.options.Least, Most: w.options.Most,
			Refuse: w.options.Refuse,
		}
		start := w.bestStart()
		if x, err := w.target.Space().Composition(start.Parts, start.Conditions); err == nil {
			o.Starts = append(o.Starts, x)
		}
		found, err := Best(ctx, steep, o)
		if err != nil {
			return err
		}
		w.lineCount += found.Evaluations
		w.splitCount += found.Compositions
		for _, f := range found.Archive.Best() {
			x, err := w.target.Space().Composition(f.Parts, f.Conditions)
			if err != nil {
				return err
			}
			if losses, ok := w.lossesAt(x); ok && w.allowsComposition(x) {
				w.archive.offer(losses, f.Parts, f.Conditions)
			}
		}
	}
	return nil
}

// maxLinesAroundMember is the greatest number of lines that are scored around one composition of the front; see
// [frontWalker.scoreLinesAroundFront].
const maxLinesAroundMember = 600

// scoreLinesAroundFront improves the front. For compositions of the front, in an evenly spread order, it scores
// the lines around them; see [frontWalker.scoreLinesAround]. It stops when maxLines lines have been scored in
// total, or when all compositions have been treated.
func (w *frontWalker) scoreLinesAroundFront(ctx context.Context, maxLines int64) error {
	w.maxOfferedSplits = maxOfferedAroundFront
	done := w.scoredAroundMembers
	for count := 16; ; count *= 2 {
		w.updatePartners()
		ideal, nadir := pareto.Bounds(lossesOf(w.archive.members))
		if len(w.archive.members) == 0 {
			return nil
		}
		all := slices.Clone(w.archive.members)
		for _, k := range pareto.SelectSpread(pareto.ScaleLosses(lossesOf(all), ideal, nadir), count) {
			if m := all[k]; !done[&m.Parts[0]] {
				done[&m.Parts[0]] = true
				if err := w.scoreLinesAround(ctx, m, maxLines); err != nil {
					return err
				}
			}
			if w.lineCount >= maxLines {
				return nil
			}
		}
		if count >= len(all) && !slices.ContainsFunc(w.archive.members, func(m FrontMember) bool { return !done[&m.Parts[0]] }) {
			return nil
		}
	}
}

// scoreLinesAround scores the lines around the composition m of the front: all divisions of the joint amount of
// a used ingredient and another ingredient, and all values of each condition. It scores at most
// maxLinesAroundMember lines, and ends when maxLines lines have been scored in total.
func (w *frontWalker) scoreLinesAround(ctx context.Context, m FrontMember, maxLines int64) error {
	if err := w.moveTo(m); err != nil {
		return err
	}
	used := make(map[int]bool)
	for _, p := range m.Parts {
		used[p.Ingredient] = true
	}
	left := maxLinesAroundMember
	try := func(i, j int) error {
		if left == 0 || w.lineCount >= maxLines {
			return nil
		}
		left--
		if err := w.checkContext(ctx); err != nil {
			return err
		}
		return w.scoreLine(i, j)
	}
	for _, k := range w.cursor.MultiValuedConditions() {
		if left == 0 || w.lineCount >= maxLines {
			break
		}
		left--
		if err := w.scoreValues(k); err != nil {
			return err
		}
	}
	for a, p := range m.Parts {
		for _, q := range m.Parts[a+1:] {
			if err := try(p.Ingredient, q.Ingredient); err != nil {
				return err
			}
		}
	}
	pool := w.limits.allowedIngredients
	first := w.rand.Intn(len(pool)) // begin at random: if the lines are too many, others are left out each time
	for k := range pool {
		j := int(pool[(first+k)%len(pool)])
		if used[j] {
			continue
		}
		for _, p := range m.Parts {
			if err := try(p.Ingredient, j); err != nil {
				return err
			}
		}
	}
	return nil
}
