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

// A frontWalker searches for a front by moving along lines. It keeps the compositions that no other beats.
type frontWalker struct {
	*frontSearch
	corner  *scalarization
	cursor  *mcmc.Cursor
	rand    *mcmc.Rand
	archive *paretoArchive

	partners []int32 // ingredients of the archive's compositions, each as often as it occurs there

	most          int // greatest number of splits of a line to compare with the archive; see offered
	lines, splits int64
	linesChecked  int64 // number of lines at the latest check of the context

	choices []choice
	weights []float64
	parts   []mcmc.Part
	done    map[*mcmc.Part]bool // members through which all lines have been scored, by the address of their first part
	seen    map[[2]int]int      // number of walks into each gap, by the rounded first losses of its ends
}

func (t *frontSearch) newFrontWalker(index uint64) (*frontWalker, error) {
	m := len(t.objectives)
	w := &frontWalker{
		frontSearch: t, rand: mcmc.NewRand(t.o.Seed, "search trade", 1+index), archive: newParetoArchive(t.objectives), most: offered, done: make(map[*mcmc.Part]bool),
		corner: &scalarization{keepsLast: true, objectives: t.objectives, at: make([]float64, m), weight: make([]float64, m), scale: make([]float64, m)},
	}
	for _, c := range t.target.Space().Conditions() {
		w.corner.values = append(w.corner.values, len(c.Weights))
	}
	for d, width := range t.width {
		w.corner.weight[d], w.corner.scale[d] = 1/width, 1/width
	}
	target, err := t.target.WithObjectives(mcmc.Objective{Name: "trade-off", Property: w.corner, Weight: 1})
	if err != nil {
		return nil, err
	}
	x, err := t.target.Space().Composition(t.seeds[0].Parts, t.seeds[0].Conditions)
	if err != nil {
		return nil, err
	}
	if w.cursor, err = mcmc.NewCursor(target, x); err != nil {
		return nil, err
	}
	for _, s := range t.seeds {
		if x, err = t.target.Space().Composition(s.Parts, s.Conditions); err != nil {
			return nil, err
		}
		if t.limits.allowsAll(x) && !t.refuses(s.Parts) {
			w.archive.offer(s.Losses, s.Parts, s.Conditions)
		}
	}
	return w, nil
}

// moveTo moves the cursor to a composition and scores it by the present corner.
func (w *frontWalker) moveTo(m Member) error {
	x, err := w.target.Space().Composition(m.Parts, m.Conditions)
	if err != nil {
		return err
	}
	return w.cursor.Set(x)
}

// tradeLeg is the number of lines of a walk, tradeHot its β at the start and tradeCold that at the end. In units of
// β the combined score has a range of about 1.
const (
	tradeLeg  = 250
	tradeHot  = 4
	tradeCold = 2000
)

// explore searches for the best of each loss. It then walks into wide gaps of the front until the given number of
// lines has been scored.
func (w *frontWalker) explore(ctx context.Context, until int64) error {
	leg := min(tradeLeg, max(int(until-w.lines)/12, 20))
	for d := range w.objectives {
		w.aimAtLoss(d)
		if err := w.walk(ctx, w.bestStart(), 2*leg, tradeHot, tradeCold); err != nil {
			return err
		}
	}
	if w.seen == nil {
		w.seen = make(map[[2]int]int)
	}
	for round := 0; w.lines < until; round++ {
		w.learnPartners()
		from, gap := w.aimAtGap(round)
		switch { // Some walks start elsewhere, because the compositions found may be much alike.
		case round%6 == 5:
			from, gap = w.seeds[w.rand.Intn(len(w.seeds))], 1
		case round%6 == 2 && len(w.archive.members) > 0:
			from = w.archive.members[w.rand.Intn(len(w.archive.members))]
		}
		if err := w.walk(ctx, from, leg, max(5*tradeHot*gap, tradeHot/10.), tradeCold); err != nil {
			return err
		}
	}
	return nil
}

// bestStart returns the composition of the archive with the best combined score, or of the seeds if the archive is
// empty.
func (w *frontWalker) bestStart() Member {
	list := w.archive.members
	if len(list) == 0 {
		list = w.seeds
	}
	best, at := math.Inf(-1), 0
	for k, m := range list {
		if score := w.corner.score(m.Losses); score > best {
			best, at = score, k
		}
	}
	return list[at]
}

// lossRanges returns the least value and the range of each loss on the front. A loss without a range there has its range
// among the seeds.
func (w *frontWalker) lossRanges() (ideal, width []float64) {
	list := w.archive.members
	if len(list) == 0 {
		list = w.seeds
	}
	ideal, nadir := pareto.Bounds(lossesOf(list))
	width = make([]float64, len(ideal))
	for d := range width {
		if width[d] = nadir[d] - ideal[d]; !(width[d] > 0) {
			width[d] = w.width[d]
		}
	}
	return ideal, width
}

// aimAtLoss sets the corner and the weights so that walks minimise loss d.
func (w *frontWalker) aimAtLoss(d int) {
	ideal, width := w.lossRanges()
	for k := range ideal {
		w.corner.at[k], w.corner.scale[k], w.corner.weight[k] = ideal[k], 1/width[k], 0
	}
	w.corner.weight[d] = 1 / width[d]
}

// aimAtGap sets the corner and the weights so that a walk fills a wide gap of the front, preferring gaps tried less
// often. It returns the composition to start from, and the gap's width as a fraction of the front's range.
func (w *frontWalker) aimAtGap(round int) (from Member, gap float64) {
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
		size /= float64(1 + w.seen[cell])
		if size > best {
			best, at, which = size, k, cell
		}
	}
	w.seen[which]++
	a, b := list[at-1], list[at]
	for d := range ideal {
		side := math.Abs(a.Losses[d] - b.Losses[d])
		w.corner.at[d] = min(a.Losses[d], b.Losses[d])
		w.corner.weight[d] = 1 / max(side, float64(1e-6*width[d]))
		w.corner.scale[d] = w.corner.weight[d]
	}
	share := math.Sqrt(float64(float64((b.Losses[0]-a.Losses[0])/width[0]) * float64((a.Losses[1]-b.Losses[1])/width[1])))
	if round%2 == 0 {
		return a, share
	}
	return b, share
}

// aimAtRandom sets the corner to the ideal point with random weights. It returns the best composition under them.
func (w *frontWalker) aimAtRandom(ideal, width []float64) Member {
	sum := 0.0
	share := make([]float64, len(ideal))
	for d := range share {
		u := float64((float64(w.rand.Intn(1<<30)) + 0.5) / (1 << 30))
		share[d] = -portable.Log(u) // normalised exponential variables are uniform on the simplex
		sum += share[d]
	}
	for d := range share {
		w.corner.at[d] = ideal[d]
		w.corner.weight[d] = max(share[d]/sum, 1e-3) / width[d]
		w.corner.scale[d] = 1 / width[d]
	}
	return w.bestStart()
}

// learnPartners makes walks prefer the ingredients of the archive's compositions.
func (w *frontWalker) learnPartners() {
	w.partners = w.partners[:0]
	step := max(len(w.archive.members)/100, 1)
	for k := 0; k < len(w.archive.members); k += step {
		for _, p := range w.archive.members[k].Parts {
			w.partners = append(w.partners, int32(p.Ingredient))
		}
	}
}

// walk makes the given number of steps from a composition, while β rises geometrically from hot to cold.
func (w *frontWalker) walk(ctx context.Context, from Member, steps int, hot, cold float64) error {
	if err := w.moveTo(from); err != nil {
		return err
	}
	rise := portable.Log(cold / hot)
	for k := range steps {
		if err := w.checkEnded(ctx); err != nil {
			return err
		}
		beta := float64(hot * portable.Exp(rise*float64(k)/float64(max(steps-1, 1))))
		if free := w.cursor.FreeConditions(); len(free) > 0 && w.rand.Bernoulli(setShare) {
			if err := w.set(free[w.rand.Intn(len(free))], beta); err != nil {
				return err
			}
			continue
		}
		i, j := w.pair()
		if i == j {
			continue
		}
		if err := w.scoreLine(i, j); err != nil {
			return err
		}
		w.step(i, j, beta)
	}
	return nil
}

// checkEnded returns the context's error if the search must end. It looks only at intervals.
func (w *frontWalker) checkEnded(ctx context.Context) error {
	if w.lines-w.linesChecked < 64 {
		return nil
	}
	w.linesChecked = w.lines
	return ctx.Err()
}

// pair draws a line: a used ingredient and another one.
func (w *frontWalker) pair() (i, j int) {
	used := w.cursor.Composition().Ingredients()
	i = int(used[w.rand.Intn(len(used))])
	switch {
	case len(used) > 1 && w.rand.Bernoulli(pairShare):
		j = int(used[w.rand.Intn(len(used))])
	case len(w.partners) > 0 && w.rand.Bernoulli(0.5):
		j = int(w.partners[w.rand.Intn(len(w.partners))])
	default:
		j = int(w.limits.pool[w.rand.Intn(len(w.limits.pool))])
	}
	return i, j
}

// offered and offeredLast are how many splits of a line, besides its ends, are compared with the archive if there are
// more than two losses. offered applies to walks, offeredLast to lines through the compositions found.
const offered, offeredLast = 8, 200

// scoreLine scores a line, lists the splits to choose from, and offers them to the archive.
func (w *frontWalker) scoreLine(i, j int) error {
	x := w.cursor.Composition()
	s := x.Amount(i) + x.Amount(j)
	p, err := w.cursor.Line(i, j)
	if err != nil {
		return err
	}
	w.lines++
	w.splits += int64(s) + 1
	w.choices = w.choices[:0]
	others := x.Used() - 1
	if x.Amount(i) > 0 && x.Amount(j) > 0 {
		others--
	}
	clean := true // whether the amounts of all other ingredients are allowed
	for _, other := range x.Ingredients() {
		if o := int(other); o != i && o != j && !w.limits.allows(o, int32(x.Amount(o))) {
			clean = false
		}
	}
	ends, inner := w.limits.allowsSize(others+1), w.limits.allowsSize(others+2)
	low, high := w.limits.splitRange(i, j, s)
	low, high = max(low, 1), min(high, s)
	at := 0 // index of the piece of losses that contains the split
	for q := range p.Len() {
		from, value := p.Piece(q)
		to := s + 1
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		for at+1 < len(w.corner.last.starts) && w.corner.last.starts[at+1] <= from {
			at++
		}
		if !(value > math.Inf(-1)) || math.IsInf(value, 1) {
			continue
		}
		losses := w.corner.last.piece(at)
		add := func(from, to int) {
			if from >= to {
				return
			}
			w.choices = append(w.choices, choice{from, to, value})
			if clean && len(losses) == 2 {
				w.offer(i, j, s, (from+to-1)/2, losses)
			}
		}
		if from == 0 && ends && w.limits.allows(j, int32(s)) {
			add(0, 1)
		}
		if inner {
			add(max(from, low), min(to, high))
		}
		if to == s+1 && s > 0 && ends && w.limits.allows(i, int32(s)) {
			add(s, s+1)
		}
	}
	if clean && len(w.objectives) > 2 {
		w.offerSome(i, j, s)
	}
	return nil
}

// offerSome offers the splits of a line with the best combined scores, and its ends.
func (w *frontWalker) offerSome(i, j, s int) {
	order := make([]int, len(w.choices))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.choices[b].value, w.choices[a].value) })
	for rank, k := range order {
		c := w.choices[k]
		if rank < w.most || c.from == 0 || c.from == s {
			at, found := slices.BinarySearch(w.corner.last.starts, c.from)
			if !found {
				at--
			}
			w.offer(i, j, s, (c.from+c.to-1)/2, w.corner.last.piece(at))
		}
	}
}

// offer offers to the archive the composition with k units of i and s−k of j.
func (w *frontWalker) offer(i, j, s, k int, losses []float64) {
	if !w.archive.isNondominated(losses) {
		return
	}
	parts := w.partsWith(i, j, s, k)
	if w.refuses(parts) {
		return
	}
	w.archive.offer(losses, parts, w.cursor.Composition().AppendConditions(nil))
}

// scoreValues scores the values of a condition, lists them as choices, and offers them to the archive.
func (w *frontWalker) scoreValues(condition int) error {
	p, err := w.cursor.Values(condition)
	if err != nil {
		return err
	}
	x := w.cursor.Composition()
	last := len(w.target.Space().Conditions()[condition].Weights)
	w.lines++
	w.splits += int64(last)
	w.choices = w.choices[:0]
	clean := w.limits.allowsSize(x.Used()) && w.limits.allowsAll(x) && !w.refuses(x.Parts())
	at := 0 // index of the piece of losses that contains the split
	for q := range p.Len() {
		from, value := p.Piece(q)
		to := last
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		for at+1 < len(w.corner.last.starts) && w.corner.last.starts[at+1] <= from {
			at++
		}
		if !(value > math.Inf(-1)) {
			continue
		}
		c := choice{from, to, value}
		w.choices = append(w.choices, c)
		if losses := w.corner.last.piece(at); clean && w.archive.isNondominated(losses) {
			conditions := x.AppendConditions(nil)
			conditions[condition] = int32(middle(c))
			w.archive.offer(losses, x.Parts(), conditions)
		}
	}
	return nil
}

// set scores the values of a condition and takes one with probability ∝ exp(β·score).
func (w *frontWalker) set(condition int, beta float64) error {
	if err := w.scoreValues(condition); err != nil || len(w.choices) == 0 {
		return err
	}
	w.weights = setValue(w.cursor, w.rand, condition, w.choices, beta, w.weights)
	return nil
}

// partsWith returns the parts of the present composition with k units of i and s−k of j instead of the line's own.
// They are valid until the next call.
func (w *frontWalker) partsWith(i, j, s, k int) []mcmc.Part {
	of := walker{cursor: w.cursor, parts: w.parts}
	w.parts = of.partsWith(i, j, s, k)
	return w.parts
}

// step moves to one of the listed splits with probability ∝ exp(β·score).
func (w *frontWalker) step(i, j int, beta float64) {
	if len(w.choices) == 0 {
		return
	}
	top := math.Inf(-1)
	for _, c := range w.choices {
		top = max(top, c.value)
	}
	w.weights = w.weights[:0]
	for _, c := range w.choices {
		w.weights = append(w.weights, portable.Exp(float64(beta*(c.value-top))))
	}
	c := w.choices[w.rand.Categorical(w.weights)]
	k := c.from
	if c.to-c.from > 1 {
		k += w.rand.Intn(c.to - c.from)
	}
	if k != w.cursor.Composition().Amount(i) {
		w.cursor.Move(i, j, k, c.value)
	}
}

// searchEnds searches for the least value of each loss by [Best].
func (w *frontWalker) searchEnds(ctx context.Context, lines int) error {
	for d := range w.objectives {
		w.aimAtLoss(d)
		score := scalarization{objectives: w.objectives, values: w.corner.values, at: w.corner.at, weight: w.corner.weight, scale: w.corner.scale}
		steep, err := w.target.WithObjectives(mcmc.Objective{Name: w.objectives[d].Name, Property: &score, Weight: 30})
		if err != nil {
			return err
		}
		o := Options{
			Evaluations: max(lines/len(w.objectives), 1), Seed: w.o.Seed, Workers: w.o.Workers, Least: w.o.Least, Most: w.o.Most,
			Refuse: w.o.Refuse,
		}
		start := w.bestStart()
		if x, err := w.target.Space().Composition(start.Parts, start.Conditions); err == nil {
			o.Starts = append(o.Starts, x)
		}
		found, err := Best(ctx, steep, o)
		if err != nil {
			return err
		}
		w.lines += found.Evaluations
		w.splits += found.Compositions
		for _, f := range found.Archive.Best() {
			x, err := w.target.Space().Composition(f.Parts, f.Conditions)
			if err != nil {
				return err
			}
			if losses, ok := w.lossesAt(x); ok && w.allows(x) {
				w.archive.offer(losses, f.Parts, f.Conditions)
			}
		}
	}
	return nil
}

// mostNeighbours is the greatest number of lines scored through one composition.
const mostNeighbours = 600

// polish scores the lines through the compositions found, in an evenly spread order. It stops when the given number
// of lines has been scored or no composition remains.
func (w *frontWalker) polish(ctx context.Context, until int64) error {
	w.most = offeredLast
	done := w.done
	for count := 16; ; count *= 2 {
		w.learnPartners()
		ideal, nadir := pareto.Bounds(lossesOf(w.archive.members))
		if len(w.archive.members) == 0 {
			return nil
		}
		all := slices.Clone(w.archive.members)
		for _, k := range pareto.SelectSpread(pareto.Scaled(lossesOf(all), ideal, nadir), count) {
			if m := all[k]; !done[&m.Parts[0]] {
				done[&m.Parts[0]] = true
				if err := w.neighbours(ctx, m, until); err != nil {
					return err
				}
			}
			if w.lines >= until {
				return nil
			}
		}
		if count >= len(all) && !slices.ContainsFunc(w.archive.members, func(m Member) bool { return !done[&m.Parts[0]] }) {
			return nil
		}
	}
}

// neighbours scores the lines through one composition of the front.
func (w *frontWalker) neighbours(ctx context.Context, m Member, until int64) error {
	if err := w.moveTo(m); err != nil {
		return err
	}
	used := make(map[int]bool)
	for _, p := range m.Parts {
		used[p.Ingredient] = true
	}
	left := mostNeighbours
	try := func(i, j int) error {
		if left == 0 || w.lines >= until {
			return nil
		}
		left--
		if err := w.checkEnded(ctx); err != nil {
			return err
		}
		return w.scoreLine(i, j)
	}
	for _, k := range w.cursor.FreeConditions() {
		if left == 0 || w.lines >= until {
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
	pool := w.limits.pool
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
