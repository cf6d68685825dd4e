package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/pareto"
	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
)

// A tradeObjective is an objective of the problem's trade-off, either learnt or known.
type tradeObjective struct {
	compile.Objective                  // its score is that of a known objective
	learnt            *learntObjective // nil for a known objective
}

// learntLoss converts a value of the model to a loss, where lower is better.
func (g *tradeObjective) learntLoss(v float64) float64 {
	o := g.learnt
	if !o.learning.Numeric {
		return -min(max(v, 0), 1)
	}
	return g.numberLoss(o.labelValue(v))
}

// numberLoss returns the loss of a number of the label.
func (g *tradeObjective) numberLoss(number float64) float64 {
	o := g.learnt
	number = logOrSame(number, o.learning.Log)
	width := logOrSame(o.greatest, o.learning.Log) - logOrSame(o.least, o.learning.Log)
	return o.direction.Loss(number, logOrSame(o.low, o.learning.Log), logOrSame(o.high, o.learning.Log)) / width
}

// A tradeOffOptimizer chooses the recipes that add most to the hypervolume of a trade-off, on
// average over joint draws of the models.
type tradeOffOptimizer struct {
	*batchOptimizer
	tradeObjectives []tradeObjective
	otherObjectives []*learntObjective // learnt objectives outside the trade-off

	recipes     []recipe
	gainFactors []float64 // by candidate: the result of gainFactor
	stated      lossDraws // with the models' own uncertainty; for the choice of recipes
	student     lossDraws // as in [batchOptimizer.studentDraws]; for the probability of a gain
}

// A lossDraws has joint draws of the losses of recipes.
type lossDraws struct {
	losses [][][]float64 // by draw, by recipe: candidates, then trials, then pending recipes
	fronts [][][]float64 // by draw: the front of trials, pending and chosen recipes
	volume []float64     // by draw: the hypervolume of the trials
}

// add adds a recipe to the front of each draw.
func (d *lossDraws) add(at int) {
	for s := range d.fronts {
		d.fronts[s] = nonDominatedPoints(append(slices.Clip(d.fronts[s]), d.losses[s][at]))
	}
}

// frontDraws is the number of joint draws for two objectives. frontDrawsOfMore is that for
// more objectives, whose hypervolumes take longer.
const frontDraws, frontDrawsOfMore = 128, 48

// newTradeOffOptimizer returns the optimizer for the problem's trade-off. It is nil if the
// problem has none, nothing in it is learnt, or a model cannot be learnt yet.
func (ch *batchOptimizer) newTradeOffOptimizer() (*tradeOffOptimizer, error) {
	names := ch.c.Problem.Trade
	if len(names) == 0 {
		return nil, nil
	}
	known, err := ch.c.Problem.Objectives(names)
	if err != nil {
		return nil, err
	}
	f := &tradeOffOptimizer{batchOptimizer: ch}
	learns := false
	for k, name := range names {
		g := tradeObjective{Objective: known[k]}
		if at := slices.IndexFunc(ch.objectives, func(o *learntObjective) bool { return o.name == name }); at >= 0 {
			if g.learnt, learns = ch.objectives[at], true; g.learnt.model == nil {
				return nil, nil
			}
		}
		f.tradeObjectives = append(f.tradeObjectives, g)
	}
	if !learns {
		return nil, nil
	}
	for _, o := range ch.learntObjectives() {
		if !slices.Contains(names, o.name) {
			f.otherObjectives = append(f.otherObjectives, o)
		}
	}
	return f, nil
}

// optimisticLoss returns the loss of a recipe. For a learnt objective it is that of a recipe that turns out a
// standard deviation better than predicted.
func (f *tradeOffOptimizer) optimisticLoss(g *tradeObjective, x recipe) (float64, error) {
	if g.learnt == nil {
		return f.knownLoss(g, x)
	}
	mean, sd := g.learnt.model.Predict(x)
	return min(g.learntLoss(mean-sd), g.learntLoss(mean), g.learntLoss(mean+sd)), nil
}

// knownLoss returns the loss of a recipe in a known objective.
func (f *tradeOffOptimizer) knownLoss(g *tradeObjective, x recipe) (float64, error) {
	composition, err := f.c.composition(x)
	if err != nil {
		return 0, err
	}
	v := g.Loss(composition)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s has no value at %v", g.Name, composition)
	}
	return v, nil
}

// gainFactor returns the factor of a recipe's gain. It is the probability of not failing times
// the desirability in objectives outside the trade-off, per cost.
func (f *tradeOffOptimizer) gainFactor(x recipe) (float64, error) {
	factor := 1 / f.costDivisor(x.parts)
	if f.success != nil {
		p, _ := f.success.Predict(x)
		if p < leastSuccess {
			return 0, nil
		}
		factor = float64(factor * p)
	}
	for _, o := range f.otherObjectives {
		mean, _ := o.model.Predict(x)
		factor = float64(factor * portable.Pow(o.predictedDesirability(mean), o.weight))
	}
	if len(f.fixedTarget.Objectives()) == 0 {
		return factor, nil
	}
	composition, err := f.c.composition(x)
	if err != nil {
		return 0, err
	}
	scores, err := f.fixedTarget.AppendScores(nil, composition)
	if err != nil {
		return 0, f.c.Problem.Explain(err)
	}
	for k, w := range f.fixedTarget.Objectives() {
		if w.Weight > 0 && !slices.ContainsFunc(f.tradeObjectives, func(g tradeObjective) bool { return g.Name == w.Name }) {
			factor = float64(factor * portable.Pow(scores[k], w.Weight))
		}
	}
	return factor, nil
}

// choose fills the batch and returns the gain still to expect.
func (f *tradeOffOptimizer) choose(ctx context.Context) (RemainingGain, error) {
	if err := f.findFrontCandidates(ctx); err != nil {
		return RemainingGain{}, err
	}
	if err := f.drawLosses(); err != nil {
		return RemainingGain{}, err
	}
	left, err := f.remainingGain()
	if err != nil {
		return left, err
	}
	if len(f.alike) > 0 {
		scores := make([]float64, len(f.recipes))
		for k := range scores {
			scores[k] = float64(f.gain(k) * f.gainFactors[k])
		}
		f.chooseValues(f.recipes, scores, func(set [][]int32) float64 {
			d := *f
			d.batchOptimizer = f.clone()
			d.chosenValues = set
			d.stated.fronts, d.student.fronts = slices.Clone(f.stated.fronts), slices.Clone(f.student.fronts)
			return d.fillFromFront()
		})
	}
	f.fillFromFront()
	return left, nil // fillSpace chooses the rest
}

// fillFromFront fills the batch with the recipes that add most to the front, one at a time. It
// returns the sum of what each adds.
func (f *tradeOffOptimizer) fillFromFront() (gained float64) {
	used := make([]bool, len(f.recipes))
	for len(f.batch) < f.s.Size {
		at, most := -1, math.Inf(-1)
		for k, x := range f.recipes {
			if used[k] || f.gainFactors[k] == 0 || f.distanceToBatch(x) < leastDistance || !f.fitsBatch(x) {
				continue
			}
			if gain := float64(f.gain(k) * f.gainFactors[k]); gain > most {
				at, most = k, gain
			}
		}
		if at < 0 || !(most > 0) {
			return gained
		}
		used[at] = true
		b := chosenRecipe{recipe: f.recipes[at], kind: Likely, gain: most, distance: f.nearestDistance(f.recipes[at]), scored: true, front: f}
		b.beats, b.improvement = f.hypervolumeStats(at)
		f.stated.add(at)
		f.student.add(at)
		f.addRecipe(b)
		gained += most
	}
	return gained
}

// hypervolumeStats returns the probability that a candidate adds to the hypervolume, and the
// mean share of the hypervolume that it adds.
func (f *tradeOffOptimizer) hypervolumeStats(at int) (beats, better float64) {
	one := f.unitReference()
	for s, points := range f.student.fronts {
		if pareto.VolumeGain(f.student.losses[s][at], points, one) > 0 {
			beats++
		}
	}
	for s, points := range f.stated.fronts {
		better += pareto.VolumeGain(f.stated.losses[s][at], points, one) / max(f.stated.volume[s], 1e-9)
	}
	n := float64(len(f.student.fronts))
	return beats / n, better / n
}

// assessGain returns the gain still to expect, without choosing recipes.
func (f *tradeOffOptimizer) assessGain(ctx context.Context) (RemainingGain, error) {
	if err := f.findFrontCandidates(ctx); err != nil {
		return RemainingGain{}, err
	}
	if err := f.drawLosses(); err != nil {
		return RemainingGain{}, err
	}
	return f.remainingGain()
}

// findFrontCandidates searches for candidates on the front of optimistic losses, and adds
// random recipes. If no candidate satisfies the limits, it searches again without them.
func (f *tradeOffOptimizer) findFrontCandidates(ctx context.Context) error {
	if err := f.searchFront(ctx); err != nil || len(f.recipes) > 0 || !f.dropLimits() {
		return err
	}
	return f.searchFront(ctx)
}

func (f *tradeOffOptimizer) searchFront(ctx context.Context) error {
	if f.allowed != nil {
		for _, x := range f.allowed {
			if f.isOfferable(x) {
				f.recipes = append(f.recipes, x)
			}
		}
		return f.thin()
	}
	var objectives []search.Objective
	for k := range f.tradeObjectives {
		g := &f.tradeObjectives[k]
		score := func(x recipe) float64 {
			v, err := f.optimisticLoss(g, x)
			if err != nil {
				return math.NaN() // the search reports the recipe
			}
			if out := f.limitViolation(x); out > 0 {
				v += float64((1 + math.Abs(v)) * frontPenalty * out)
			}
			return -v
		}
		objectives = append(objectives, search.Objective{Name: g.Name, Size: g.Size, Score: newAcquisition(f.c, score, func(recipe) bool { return false })})
	}
	o := search.TradeOptions{Lines: f.effort(), Seed: f.s.Seed + uint64(f.round), Workers: f.s.Workers, Least: f.minAmounts, NoRandom: true}
	for k, t := range f.c.trials {
		if len(t.broken) > 0 || t.failed || k >= anchorCount {
			continue
		}
		x, err := f.c.composition(t.recipe)
		if err != nil {
			return err
		}
		o.Starts = append(o.Starts, x)
	}
	found, err := search.TradeOff(ctx, f.ruleTarget, objectives, o)
	if err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return f.c.Problem.Explain(err)
	}
	if err == nil {
		for _, m := range found.Front {
			if r := f.c.offeredRecipe(m.Parts, m.Conditions); f.isOfferable(r) {
				f.recipes = append(f.recipes, r)
			}
		}
	}
	if err := f.thin(); err != nil {
		return err
	}
	random, err := f.randomRecipes(ctx, randomPool, f.rand(fillStream, 1))
	if err != nil {
		return err
	}
	for _, x := range random {
		if !slices.ContainsFunc(f.recipes, func(y recipe) bool { return compareRecipes(x, y) == 0 }) {
			f.recipes = append(f.recipes, x)
		}
	}
	return nil
}

// frontPenalty is the relative increase of a loss per unit of limit violation. It is so great
// that recipes within the limits beat all others.
const frontPenalty = 1000

// thin reduces the candidates to the number that can be drawn jointly, spread evenly by their
// optimistic losses.
func (f *tradeOffOptimizer) thin() error {
	if len(f.recipes) <= poolSize-randomPool {
		return nil
	}
	points := make([][]float64, len(f.recipes))
	for a, x := range f.recipes {
		for k := range f.tradeObjectives {
			v, err := f.optimisticLoss(&f.tradeObjectives[k], x)
			if err != nil {
				return err
			}
			points[a] = append(points[a], v)
		}
	}
	ideal, nadir := pareto.Bounds(points)
	var some []recipe
	for _, k := range pareto.SelectSpread(pareto.Scaled(points, ideal, nadir), poolSize-randomPool) {
		some = append(some, f.recipes[k])
	}
	f.recipes = some
	return nil
}

// drawLosses draws the losses of candidates, trials and pending recipes jointly. It scales
// them so that the front of the trials lies between 0 and the reference 1.
func (f *tradeOffOptimizer) drawLosses() error {
	for _, x := range f.recipes {
		factor, err := f.gainFactor(x)
		if err != nil {
			return err
		}
		f.gainFactors = append(f.gainFactors, factor)
	}
	xs := slices.Clone(f.recipes)
	seen, err := f.measuredOutsideLimits() // these are on no front
	if err != nil {
		return err
	}
	for _, t := range f.c.trials {
		if !t.failed && len(t.broken) == 0 && !seen[t.key] {
			seen[t.key] = true
			xs = append(xs, t.recipe)
		}
	}
	if err := f.selectAnchors(&xs); err != nil {
		return err
	}
	trials := len(xs) - len(f.recipes)
	for _, e := range f.pending {
		xs = append(xs, e.recipe)
	}
	count := frontDraws
	if len(f.tradeObjectives) > 2 {
		count = frontDrawsOfMore
	}
	var learnt [][][]float64 // draws of the models' values, by learnt objective
	for k, g := range f.tradeObjectives {
		if g.learnt != nil {
			learnt = append(learnt, g.learnt.model.Draws(xs, count, f.rand(drawStream, uint64(k))))
		}
	}
	if f.stated.losses, err = f.lossesOf(xs, learnt, count); err != nil {
		return err
	}
	if f.student.losses, err = f.lossesOf(xs, f.studentDraws(learnt), count); err != nil {
		return err
	}
	f.setLossScale(trials)
	for _, d := range []*lossDraws{&f.stated, &f.student} {
		for _, losses := range d.losses {
			tried := nonDominatedPoints(losses[len(f.recipes) : len(f.recipes)+trials])
			d.volume = append(d.volume, pareto.Hypervolume(tried, f.unitReference()))
			d.fronts = append(d.fronts, nonDominatedPoints(slices.Concat(tried, losses[len(f.recipes)+trials:])))
		}
	}
	return nil
}

// lossesOf returns the losses of recipes by draw, given draws of the learnt objectives.
func (f *tradeOffOptimizer) lossesOf(xs []recipe, learnt [][][]float64, count int) ([][][]float64, error) {
	losses := make([][][]float64, count)
	for s := range losses {
		losses[s] = make([][]float64, len(xs))
		for a := range xs {
			losses[s][a] = make([]float64, len(f.tradeObjectives))
		}
	}
	at := 0
	for k := range f.tradeObjectives {
		g := &f.tradeObjectives[k]
		if g.learnt == nil {
			known := make([][]float64, len(xs))
			for a, x := range xs {
				v, err := f.knownLoss(g, x)
				if err != nil {
					return nil, err
				}
				known[a] = []float64{v}
			}
			for a, v := range pareto.MergeTies(known, []float64{g.Size}) {
				for s := range losses {
					losses[s][a][k] = v[0]
				}
			}
			continue
		}
		for s, draw := range learnt[at] {
			for a, v := range draw {
				losses[s][a][k] = g.learntLoss(v)
			}
		}
		at++
	}
	return losses, nil
}

// selectAnchors keeps as many trials as can be drawn jointly. It takes those predicted to be
// on the front first, then those on the next fronts behind it.
func (f *tradeOffOptimizer) selectAnchors(xs *[]recipe) error {
	first := len(f.recipes)
	tried := slices.Clone((*xs)[first:])
	*xs = (*xs)[:first]
	points := make([][]float64, len(tried))
	for a, x := range tried {
		for k := range f.tradeObjectives {
			g := &f.tradeObjectives[k]
			if g.learnt != nil {
				mean, _ := g.learnt.model.Predict(x)
				points[a] = append(points[a], g.learntLoss(mean))
				continue
			}
			v, err := f.knownLoss(g, x)
			if err != nil {
				return err
			}
			points[a] = append(points[a], v)
		}
	}
	points = pareto.MergeTies(points, f.lossSizes())
	for left := 2 * anchorCount; left > 0 && len(points) > 0; {
		best := pareto.Minimal(points)
		for _, k := range best[:min(len(best), left)] {
			*xs = append(*xs, tried[k])
			left--
		}
		slices.Sort(best)
		for _, k := range slices.Backward(best) {
			points, tried = slices.Delete(points, k, k+1), slices.Delete(tried, k, k+1)
		}
	}
	return nil
}

// lossSizes returns the lossSizes for [pareto.MergeTies]. The losses of learnt objectives have size 0,
// so they only tie where recipes are the same.
func (f *tradeOffOptimizer) lossSizes() []float64 {
	sizes := make([]float64, len(f.tradeObjectives))
	for k := range f.tradeObjectives {
		sizes[k] = f.tradeObjectives[k].Size
	}
	return sizes
}

// setLossScale maps the losses so that the ideal is 0 and the reference is 1. The ideal is the best
// mean over all recipes. The reference comes from the front of the trials' means, or from more
// recipes if that has one point.
func (f *tradeOffOptimizer) setLossScale(trials int) {
	draws := f.stated.losses
	mean := make([][]float64, len(draws[0]))
	for a := range mean {
		mean[a] = make([]float64, len(f.tradeObjectives))
		for _, draw := range draws {
			for k, v := range draw[a] {
				mean[a][k] += v / float64(len(draws))
			}
		}
	}
	of := nonDominatedPoints(mean[len(f.recipes) : len(f.recipes)+trials])
	ideal, nadir := pareto.Bounds(mean)
	if len(of) > 1 {
		_, nadir = pareto.Bounds(of)
	} else if trials > 1 {
		_, nadir = pareto.Bounds(mean[len(f.recipes) : len(f.recipes)+trials])
	}
	reference := pareto.Reference(ideal, nadir)
	for _, d := range []*lossDraws{&f.stated, &f.student} {
		for s := range d.losses {
			d.losses[s] = pareto.Scaled(d.losses[s], ideal, reference)
		}
	}
}

// unitReference returns the reference of scaled losses: all 1.
func (f *tradeOffOptimizer) unitReference() []float64 {
	one := make([]float64, len(f.tradeObjectives))
	for k := range one {
		one[k] = 1
	}
	return one
}

// nonDominatedPoints returns the points that no other dominates.
func nonDominatedPoints(points [][]float64) [][]float64 {
	var out [][]float64
	for _, k := range pareto.Minimal(points) {
		out = append(out, points[k])
	}
	return out
}

// gain returns the hypervolume that a candidate adds, on average over the draws.
func (f *tradeOffOptimizer) gain(k int) float64 {
	sum, one := 0.0, f.unitReference()
	for s, points := range f.stated.fronts {
		sum += pareto.VolumeGain(f.stated.losses[s][k], points, one)
	}
	return sum / float64(len(f.stated.fronts))
}

// minFrontGain is the least increase of the hypervolume, as a share of it, that counts as
// progress.
const minFrontGain = 0.01

// greatestAddedShare returns the greatest share of its hypervolume that any candidate adds to the front
// of draw s.
func (f *tradeOffOptimizer) greatestAddedShare(d *lossDraws, s int) float64 {
	most, one := 0.0, f.unitReference()
	for k := range f.recipes {
		if f.gainFactors[k] > 0 {
			most = max(most, pareto.VolumeGain(d.losses[s][k], d.fronts[s], one))
		}
	}
	return most / max(d.volume[s], 1e-9)
}

// remainingGain estimates the gain still to expect. The probability that a candidate moves the
// front comes from the Student draws, and the gain from the models' own draws.
func (f *tradeOffOptimizer) remainingGain() (RemainingGain, error) {
	better, gain := 0.0, 0.0
	for s := range f.stated.fronts {
		if f.greatestAddedShare(&f.student, s) > minFrontGain {
			better++
		}
		gain += min(f.greatestAddedShare(&f.stated, s), 1)
	}
	n := float64(len(f.stated.fronts))
	probability := better / n
	gain /= n
	l := RemainingGain{Probability: &probability, Gain: &gain, Advice: GoOn}
	said := "go on"
	if probability < stopBelow {
		quiet, err := f.roundsSinceGain()
		if err != nil {
			return l, err
		}
		if len(f.recipes) > 0 && quiet < quietRounds {
			said = fmt.Sprintf("go on until %d rounds in a row have each added no more than %.0f %%", quietRounds, 100*minFrontGain)
		} else {
			l.Advice, said = Stop, "stop, or change what is allowed"
		}
	}
	l.Text = fmt.Sprintf("With probability %.2f ± %.2f a recipe is left that adds more than %.0f %% to the hypervolume of the trade-off; the best is expected to add %.1f %%. Advice: %s.",
		probability, math.Sqrt(max(probability*(1-probability), 1/n)/n), 100*minFrontGain, 100*gain, said)
	return f.qualifyAdvice(l), nil
}

// roundsSinceGain returns the number of rounds with results since one added more than
// minFrontGain to the hypervolume of the measurements.
func (f *tradeOffOptimizer) roundsSinceGain() (int, error) {
	all, rounds, err := f.measuredLosses()
	if err != nil {
		return 0, err
	}
	best := nonDominatedPoints(all)
	ideal, nadir := pareto.Bounds(best)
	if len(best) == 1 {
		_, nadir = pareto.Bounds(all)
	}
	scaled := pareto.Scaled(all, ideal, pareto.Reference(ideal, nadir))
	quiet, before := 0, 0.0
	for _, round := range f.c.resultRounds() {
		var until [][]float64
		for k, p := range scaled {
			if rounds[k] <= round {
				until = append(until, p)
			}
		}
		volume := pareto.Hypervolume(until, f.unitReference())
		if quiet++; volume > before*(1+minFrontGain) {
			quiet = 0
		}
		before = volume
	}
	return quiet, nil
}

// measuredLosses returns the mean losses of each recipe with measurements of all objectives of
// the trade-off, and the round of its first trial. Recipes that break a rule or a limit are
// left out.
func (f *tradeOffOptimizer) measuredLosses() (points [][]float64, rounds []int, err error) {
	broken, err := f.measuredOutsideLimits()
	if err != nil {
		return nil, nil, err
	}
	numbers, classes := make([][]float64, len(f.tradeObjectives)), make([][]string, len(f.tradeObjectives))
	for i, g := range f.tradeObjectives {
		if g.learnt != nil {
			if numbers[i], classes[i], err = f.c.measuredOf(g.learnt.learning); err != nil {
				return nil, nil, err
			}
		}
	}
	at, trials := make(map[string]int), []float64{}
trials:
	for k, t := range f.c.trials {
		if t.failed || len(t.broken) > 0 || broken[t.key] {
			continue
		}
		point := make([]float64, len(f.tradeObjectives))
		for i := range f.tradeObjectives {
			switch g := &f.tradeObjectives[i]; {
			case g.learnt == nil:
				if point[i], err = f.knownLoss(g, t.recipe); err != nil {
					return nil, nil, err
				}
			case g.learnt.learning.Numeric && math.IsNaN(numbers[i][k]), !g.learnt.learning.Numeric && classes[i][k] == "":
				continue trials
			case g.learnt.learning.Numeric:
				point[i] = g.numberLoss(numbers[i][k])
			default:
				point[i] = -g.learnt.measuredDesirability(0, classes[i][k])
			}
		}
		was, known := at[t.key]
		if !known {
			at[t.key] = len(points)
			points, rounds, trials = append(points, point), append(rounds, t.round), append(trials, 1)
			continue
		}
		trials[was]++
		for i, v := range point {
			points[was][i] += float64((v - points[was][i]) / trials[was])
		}
		rounds[was] = min(rounds[was], t.round)
	}
	return points, rounds, nil
}

// reason returns the reason for a chosen recipe.
func (f *tradeOffOptimizer) reason(b *chosenRecipe) Reason {
	var names []string
	for _, g := range f.tradeObjectives {
		names = append(names, g.Name)
	}
	return Reason{Likely, fmt.Sprintf("moves the trade-off of %s with probability %.2f: adds %.1f %% to its hypervolume on average", strings.Join(names, ", "), b.beats, 100*b.improvement)}
}
