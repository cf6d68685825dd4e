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

// A tradeObjective is an objective of the problem's trade-off. Its values are either predicted by a
// model or computed from the recipe.
type tradeObjective struct {
	compile.Objective                  // the objective in the problem; its score serves only objectives that are computed
	learntObjective   *learntObjective // objective whose values are predicted by a model; nil if the values are computed
}

// lossOfModelValue converts a value v of the model to a loss. A lower loss is better.
func (g *tradeObjective) lossOfModelValue(v float64) float64 {
	o := g.learntObjective
	if !o.learningSettings.Numeric {
		return -min(max(v, 0), 1)
	}
	return g.lossOfNumber(o.labelValue(v))
}

// lossOfNumber converts a number in the unit of the label to a loss. A lower loss is better.
func (g *tradeObjective) lossOfNumber(number float64) float64 {
	o := g.learntObjective
	number = logOrSame(number, o.learningSettings.Log)
	width := logOrSame(o.maxMeasured, o.learningSettings.Log) - logOrSame(o.minMeasured, o.learningSettings.Log)
	return o.direction.Loss(number, logOrSame(o.lowBound, o.learningSettings.Log), logOrSame(o.highBound, o.learningSettings.Log)) / width
}

// A tradeOffOptimizer chooses recipes for a problem with several objectives. It chooses the recipes
// that increase the hypervolume of the Pareto front most, averaged over joint draws of the models.
type tradeOffOptimizer struct {
	*batchOptimizer
	tradeObjectives           []tradeObjective   // objectives of the trade-off
	objectivesOutsideTradeOff []*learntObjective // learnt objectives that are not part of the trade-off

	candidateRecipes []recipe  // recipes that may be chosen
	gainFactors      []float64 // item k is the factor for the hypervolume gain of candidate k; see gainFactor
	statedLossDraws  lossDraws // draws with the uncertainty that the models state; recipes are chosen with these draws
	studentLossDraws lossDraws // draws with wider uncertainty, see studentDraws; the probability of a gain is computed from these draws
}

// A lossDraws has joint draws of the losses of recipes, and the Pareto front of each draw. A loss
// says how badly a recipe does in one objective; a lower loss is better.
type lossDraws struct {
	losses            [][][]float64 // losses[s][a][k] is the loss of recipe a in objective k in draw s; the recipes are the candidates, then the trials, then the pending recipes
	fronts            [][][]float64 // fronts[s] is the Pareto front of the trials, pending recipes and chosen recipes in draw s; each point of the front has one loss per objective
	trialHypervolumes []float64     // item s is the hypervolume of the trials in draw s
}

// addToFronts adds the losses of the recipe at the given index to the Pareto front of each draw.
func (d *lossDraws) addToFronts(index int) {
	for s := range d.fronts {
		d.fronts[s] = nonDominatedPoints(append(slices.Clip(d.fronts[s]), d.losses[s][index]))
	}
}

const (
	// frontDrawCount is the number of joint draws for a trade-off of two objectives.
	frontDrawCount = 128
	// frontDrawCountManyObjectives is the number of joint draws for a trade-off of more than two
	// objectives, where each hypervolume takes longer.
	frontDrawCountManyObjectives = 48
)

// newTradeOffOptimizer returns an optimizer for the problem's trade-off. It returns nil if the
// problem has no trade-off, if no objective of the trade-off is learnt, or if a model cannot be
// learnt yet.
func (ch *batchOptimizer) newTradeOffOptimizer() (*tradeOffOptimizer, error) {
	names := ch.campaign.Problem.Trade
	if len(names) == 0 {
		return nil, nil
	}
	known, err := ch.campaign.Problem.Objectives(names)
	if err != nil {
		return nil, err
	}
	f := &tradeOffOptimizer{batchOptimizer: ch}
	learns := false
	for k, name := range names {
		g := tradeObjective{Objective: known[k]}
		if at := slices.IndexFunc(ch.objectives, func(o *learntObjective) bool { return o.name == name }); at >= 0 {
			if g.learntObjective, learns = ch.objectives[at], true; g.learntObjective.model == nil {
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
			f.objectivesOutsideTradeOff = append(f.objectivesOutsideTradeOff, o)
		}
	}
	return f, nil
}

// optimisticLoss returns the loss of recipe x in objective g if the measurement turns out one
// standard deviation better than predicted. If the objective is computed, optimisticLoss returns
// the exact loss.
func (f *tradeOffOptimizer) optimisticLoss(g *tradeObjective, x recipe) (float64, error) {
	if g.learntObjective == nil {
		return f.computedLoss(g, x)
	}
	mean, sd := g.learntObjective.model.Predict(x)
	return min(g.lossOfModelValue(mean-sd), g.lossOfModelValue(mean), g.lossOfModelValue(mean+sd)), nil
}

// computedLoss returns the loss of recipe x in an objective that is computed from the recipe.
func (f *tradeOffOptimizer) computedLoss(g *tradeObjective, x recipe) (float64, error) {
	composition, err := f.campaign.toComposition(x)
	if err != nil {
		return 0, err
	}
	v := g.Loss(composition)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s has no value at %v", g.Name, composition)
	}
	return v, nil
}

// gainFactor returns the factor by which the hypervolume gain of recipe x is multiplied. It is
// p·d/c, where p is the probability that a trial succeeds, d is the desirability in the objectives
// outside the trade-off, and c is the cost.
func (f *tradeOffOptimizer) gainFactor(x recipe) (float64, error) {
	factor := 1 / f.costDivisor(x.parts)
	if f.successModel != nil {
		p, _ := f.successModel.Predict(x)
		if p < minSuccessProbability {
			return 0, nil
		}
		factor = float64(factor * p)
	}
	for _, o := range f.objectivesOutsideTradeOff {
		mean, _ := o.model.Predict(x)
		factor = float64(factor * portable.Pow(o.predictedDesirability(mean), o.weight))
	}
	if len(f.computedObjectivesTarget.Objectives()) == 0 {
		return factor, nil
	}
	composition, err := f.campaign.toComposition(x)
	if err != nil {
		return 0, err
	}
	scores, err := f.computedObjectivesTarget.AppendScores(nil, composition)
	if err != nil {
		return 0, f.campaign.Problem.Explain(err)
	}
	for k, w := range f.computedObjectivesTarget.Objectives() {
		if w.Weight > 0 && !slices.ContainsFunc(f.tradeObjectives, func(g tradeObjective) bool { return g.Name == w.Name }) {
			factor = float64(factor * portable.Pow(scores[k], w.Weight))
		}
	}
	return factor, nil
}

// fillBatch fills the batch. It returns the gain to expect from further rounds.
func (f *tradeOffOptimizer) fillBatch(ctx context.Context) (RemainingGain, error) {
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
	if len(f.conditionValueLimits) > 0 {
		scores := make([]float64, len(f.candidateRecipes))
		for k := range scores {
			scores[k] = float64(f.hypervolumeGain(k) * f.gainFactors[k])
		}
		f.chooseConditionValues(f.candidateRecipes, scores, func(set [][]int32) float64 {
			d := *f
			d.batchOptimizer = f.clone()
			d.chosenConditionValues = set
			d.statedLossDraws.fronts, d.studentLossDraws.fronts = slices.Clone(f.statedLossDraws.fronts), slices.Clone(f.studentLossDraws.fronts)
			return d.fillFromFront()
		})
	}
	f.fillFromFront()
	return left, nil // fillSpace chooses the rest
}

// fillFromFront fills the batch with the recipes that increase the hypervolume of the Pareto front
// most, one recipe at a time. It returns the sum of the gains.
func (f *tradeOffOptimizer) fillFromFront() (gained float64) {
	used := make([]bool, len(f.candidateRecipes))
	for len(f.batch) < f.settings.BatchSize {
		at, most := -1, math.Inf(-1)
		for k, x := range f.candidateRecipes {
			if used[k] || f.gainFactors[k] == 0 || f.distanceToBatch(x) < smallestMinDistance || !f.fitsBatch(x) {
				continue
			}
			if gain := float64(f.hypervolumeGain(k) * f.gainFactors[k]); gain > most {
				at, most = k, gain
			}
		}
		if at < 0 || !(most > 0) {
			return gained
		}
		used[at] = true
		b := chosenRecipe{recipe: f.candidateRecipes[at], reasonKind: Likely, expectedGain: most, nearestDistance: f.nearestDistance(f.candidateRecipes[at]), hasImprovementStats: true, tradeOff: f}
		b.beatsProbability, b.expectedImprovement = f.hypervolumeStats(at)
		f.statedLossDraws.addToFronts(at)
		f.studentLossDraws.addToFronts(at)
		f.addRecipe(b)
		gained += most
	}
	return gained
}

// hypervolumeStats returns two statistics of the candidate at the given index. The result adds is
// the probability that the candidate increases the hypervolume. The result increase is the mean
// increase, divided by the hypervolume of the trials.
func (f *tradeOffOptimizer) hypervolumeStats(index int) (adds, increase float64) {
	one := f.referencePoint()
	for s, points := range f.studentLossDraws.fronts {
		if pareto.VolumeGain(f.studentLossDraws.losses[s][index], points, one) > 0 {
			adds++
		}
	}
	for s, points := range f.statedLossDraws.fronts {
		increase += pareto.VolumeGain(f.statedLossDraws.losses[s][index], points, one) / max(f.statedLossDraws.trialHypervolumes[s], 1e-9)
	}
	n := float64(len(f.studentLossDraws.fronts))
	return adds / n, increase / n
}

// estimateRemainingGain returns the gain to expect from further rounds. It does not choose recipes.
func (f *tradeOffOptimizer) estimateRemainingGain(ctx context.Context) (RemainingGain, error) {
	if err := f.findFrontCandidates(ctx); err != nil {
		return RemainingGain{}, err
	}
	if err := f.drawLosses(); err != nil {
		return RemainingGain{}, err
	}
	return f.remainingGain()
}

// findFrontCandidates searches for candidates with low optimistic losses and adds random recipes.
// If no candidate satisfies the limits on predictions, findFrontCandidates searches again without
// the limits.
func (f *tradeOffOptimizer) findFrontCandidates(ctx context.Context) error {
	if err := f.searchFront(ctx); err != nil || len(f.candidateRecipes) > 0 || !f.dropPredictionLimits() {
		return err
	}
	return f.searchFront(ctx)
}

// searchFront sets candidateRecipes to the recipes on the Pareto front of optimistic losses, and
// random recipes.
func (f *tradeOffOptimizer) searchFront(ctx context.Context) error {
	if f.allowedRecipes != nil {
		for _, x := range f.allowedRecipes {
			if f.isOfferable(x) {
				f.candidateRecipes = append(f.candidateRecipes, x)
			}
		}
		return f.thinCandidates()
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
				v += float64((1 + math.Abs(v)) * limitLossPenalty * out)
			}
			return -v
		}
		objectives = append(objectives, search.Objective{Name: g.Name, LossMagnitude: g.LossMagnitude, Score: newAcquisition(f.campaign, score, func(recipe) bool { return false })})
	}
	o := search.TradeOptions{Lines: f.searchLineCount(), Seed: f.settings.Seed + uint64(f.round), Workers: f.settings.Workers, Least: f.minAmounts, SkipRandomVolumes: true}
	for k, t := range f.campaign.trials {
		if len(t.brokenRules) > 0 || t.failed || k >= maxAnchorTrials {
			continue
		}
		x, err := f.campaign.toComposition(t.recipe)
		if err != nil {
			return err
		}
		o.Starts = append(o.Starts, x)
	}
	found, err := search.TradeOff(ctx, f.ruleTarget, objectives, o)
	if err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return f.campaign.Problem.Explain(err)
	}
	if err == nil {
		for _, m := range found.Front {
			if r := f.campaign.offeredRecipe(m.Parts, m.Conditions); f.isOfferable(r) {
				f.candidateRecipes = append(f.candidateRecipes, r)
			}
		}
	}
	if err := f.thinCandidates(); err != nil {
		return err
	}
	random, err := f.randomRecipes(ctx, randomCandidateCount, f.newRand(fillStreamName, 1))
	if err != nil {
		return err
	}
	for _, x := range random {
		if !slices.ContainsFunc(f.candidateRecipes, func(y recipe) bool { return compareRecipes(x, y) == 0 }) {
			f.candidateRecipes = append(f.candidateRecipes, x)
		}
	}
	return nil
}

// limitLossPenalty is the relative increase of a loss per unit of limitViolation. The increase is
// so great that every recipe within the limits beats every recipe outside.
const limitLossPenalty = 1000

// thinCandidates removes candidates until the losses of the rest can be drawn jointly. It keeps the
// candidates on the Pareto front of optimistic losses first, and then the candidates on the front that
// remains without them.
func (f *tradeOffOptimizer) thinCandidates() error {
	if len(f.candidateRecipes) <= poolCandidateCount-randomCandidateCount {
		return nil
	}
	points := make([][]float64, len(f.candidateRecipes))
	for a, x := range f.candidateRecipes {
		for k := range f.tradeObjectives {
			v, err := f.optimisticLoss(&f.tradeObjectives[k], x)
			if err != nil {
				return err
			}
			points[a] = append(points[a], v)
		}
	}
	f.candidateRecipes = elementsAt(f.candidateRecipes, pareto.SelectLayers(points, poolCandidateCount-randomCandidateCount))
	return nil
}

// drawLosses draws the losses of candidates, trials and pending recipes jointly. It scales the
// losses of each objective, so that the ideal point has 0 and the reference point has 1.
func (f *tradeOffOptimizer) drawLosses() error {
	for _, x := range f.candidateRecipes {
		factor, err := f.gainFactor(x)
		if err != nil {
			return err
		}
		f.gainFactors = append(f.gainFactors, factor)
	}
	xs := slices.Clone(f.candidateRecipes)
	seen, err := f.keysMeasuredOutsideLimits() // these are on no front
	if err != nil {
		return err
	}
	for _, t := range f.campaign.trials {
		if !t.failed && len(t.brokenRules) == 0 && !seen[t.key] {
			seen[t.key] = true
			xs = append(xs, t.recipe)
		}
	}
	if err := f.selectAnchors(&xs); err != nil {
		return err
	}
	trials := len(xs) - len(f.candidateRecipes)
	for _, e := range f.pending {
		xs = append(xs, e.recipe)
	}
	count := frontDrawCount
	if len(f.tradeObjectives) > 2 {
		count = frontDrawCountManyObjectives
	}
	var learnt [][][]float64 // draws of the models' values, by learnt objective
	for k, g := range f.tradeObjectives {
		if g.learntObjective != nil {
			learnt = append(learnt, g.learntObjective.model.Draws(xs, count, f.newRand(drawStreamName, uint64(k))))
		}
	}
	if f.statedLossDraws.losses, err = f.lossesOf(xs, learnt, count); err != nil {
		return err
	}
	if f.studentLossDraws.losses, err = f.lossesOf(xs, f.studentDraws(learnt), count); err != nil {
		return err
	}
	f.scaleLosses()
	for _, d := range []*lossDraws{&f.statedLossDraws, &f.studentLossDraws} {
		for _, losses := range d.losses {
			tried := nonDominatedPoints(losses[len(f.candidateRecipes) : len(f.candidateRecipes)+trials])
			d.trialHypervolumes = append(d.trialHypervolumes, pareto.Hypervolume(tried, f.referencePoint()))
			d.fronts = append(d.fronts, nonDominatedPoints(slices.Concat(tried, losses[len(f.candidateRecipes)+trials:])))
		}
	}
	return nil
}

// lossesOf returns the losses of recipes. Element [s][a][k] is the loss of recipe a in objective k
// in draw s. The parameter modelDraws has the draws of the models' values: one element per learnt
// objective of the trade-off, indexed by draw and recipe.
func (f *tradeOffOptimizer) lossesOf(recipes []recipe, modelDraws [][][]float64, count int) ([][][]float64, error) {
	losses := make([][][]float64, count)
	for s := range losses {
		losses[s] = make([][]float64, len(recipes))
		for a := range recipes {
			losses[s][a] = make([]float64, len(f.tradeObjectives))
		}
	}
	at := 0
	for k := range f.tradeObjectives {
		g := &f.tradeObjectives[k]
		if g.learntObjective == nil {
			known := make([][]float64, len(recipes))
			for a, x := range recipes {
				v, err := f.computedLoss(g, x)
				if err != nil {
					return nil, err
				}
				known[a] = []float64{v}
			}
			for a, v := range pareto.MergeTies(known, []float64{g.LossMagnitude}) {
				for s := range losses {
					losses[s][a][k] = v[0]
				}
			}
			continue
		}
		for s, draw := range modelDraws[at] {
			for a, v := range draw {
				losses[s][a][k] = g.lossOfModelValue(v)
			}
		}
		at++
	}
	return losses, nil
}

// selectAnchors removes trials from the list of recipes until the losses of the rest can be drawn
// jointly. It keeps the trials on the predicted Pareto front first, and then the trials on the
// front that remains without them.
func (f *tradeOffOptimizer) selectAnchors(recipes *[]recipe) error {
	first := len(f.candidateRecipes)
	tried := slices.Clone((*recipes)[first:])
	*recipes = (*recipes)[:first]
	points := make([][]float64, len(tried))
	for a, x := range tried {
		for k := range f.tradeObjectives {
			g := &f.tradeObjectives[k]
			if g.learntObjective != nil {
				mean, _ := g.learntObjective.model.Predict(x)
				points[a] = append(points[a], g.lossOfModelValue(mean))
				continue
			}
			v, err := f.computedLoss(g, x)
			if err != nil {
				return err
			}
			points[a] = append(points[a], v)
		}
	}
	points = pareto.MergeTies(points, f.lossMagnitudes())
	*recipes = append(*recipes, elementsAt(tried, pareto.SelectLayers(points, 2*maxAnchorTrials))...)
	return nil
}

// lossMagnitudes returns the size of the losses in each objective, from which [pareto.MergeTies]
// computes which losses are equal. A learnt objective has the size 0, which means that only exactly
// equal losses tie.
func (f *tradeOffOptimizer) lossMagnitudes() []float64 {
	sizes := make([]float64, len(f.tradeObjectives))
	for k := range f.tradeObjectives {
		sizes[k] = f.tradeObjectives[k].LossMagnitude
	}
	return sizes
}

// scaleLosses scales the losses of each objective linearly, so that the ideal point has 0 and the
// reference point has 1. The ideal point has the least loss of any recipe in each objective, and the
// nadir point the greatest loss on the Pareto front of all recipes. Both are averages over the draws.
// The front of the trials alone may be short. Recipes beyond its ends would then count for nothing.
func (f *tradeOffOptimizer) scaleLosses() {
	draws := f.statedLossDraws.losses
	ideal, nadir := make([]float64, len(f.tradeObjectives)), make([]float64, len(f.tradeObjectives))
	for _, losses := range draws {
		least, greatest := pareto.Bounds(nonDominatedPoints(losses))
		for k := range f.tradeObjectives {
			ideal[k] += least[k] / float64(len(draws))
			nadir[k] += greatest[k] / float64(len(draws))
		}
	}
	reference := pareto.HypervolumeReference(ideal, nadir)
	for _, d := range []*lossDraws{&f.statedLossDraws, &f.studentLossDraws} {
		for s := range d.losses {
			d.losses[s] = pareto.ScaleLosses(d.losses[s], ideal, reference)
		}
	}
}

// referencePoint returns the reference point after scaling, which is 1 in every objective.
func (f *tradeOffOptimizer) referencePoint() []float64 {
	one := make([]float64, len(f.tradeObjectives))
	for k := range one {
		one[k] = 1
	}
	return one
}

// nonDominatedPoints returns the points of losses that no other point dominates.
func nonDominatedPoints(points [][]float64) [][]float64 {
	var out [][]float64
	for _, k := range pareto.NonDominated(points) {
		out = append(out, points[k])
	}
	return out
}

// hypervolumeGain returns how much the candidate at the given index adds to the hypervolume,
// averaged over the draws.
func (f *tradeOffOptimizer) hypervolumeGain(index int) float64 {
	sum, one := 0.0, f.referencePoint()
	for s, points := range f.statedLossDraws.fronts {
		sum += pareto.VolumeGain(f.statedLossDraws.losses[s][index], points, one)
	}
	return sum / float64(len(f.statedLossDraws.fronts))
}

// minFrontGain is the least relative increase of the hypervolume that counts as a gain.
const minFrontGain = 0.01

// greatestRelativeGain returns the greatest increase of the hypervolume by any candidate in one
// draw, divided by the hypervolume of the trials in that draw. The parameter draw is the index of
// the draw.
func (f *tradeOffOptimizer) greatestRelativeGain(d *lossDraws, draw int) float64 {
	most, one := 0.0, f.referencePoint()
	for k := range f.candidateRecipes {
		if f.gainFactors[k] > 0 {
			most = max(most, pareto.VolumeGain(d.losses[draw][k], d.fronts[draw], one))
		}
	}
	return most / max(d.trialHypervolumes[draw], 1e-9)
}

// remainingGain estimates the gain that further rounds would bring. The probability of a gain is
// the share of studentLossDraws in which a candidate increases the hypervolume by more than
// [minFrontGain]. The expected gain comes from statedLossDraws.
func (f *tradeOffOptimizer) remainingGain() (RemainingGain, error) {
	better, gain := 0.0, 0.0
	for s := range f.statedLossDraws.fronts {
		if f.greatestRelativeGain(&f.studentLossDraws, s) > minFrontGain {
			better++
		}
		gain += min(f.greatestRelativeGain(&f.statedLossDraws, s), 1)
	}
	n := float64(len(f.statedLossDraws.fronts))
	probability := better / n
	gain /= n
	l := RemainingGain{Probability: &probability, Gain: &gain, Advice: GoOn}
	more := ""
	if probability < stopProbability {
		quiet, err := f.roundsSinceGain()
		if err != nil {
			return l, err
		}
		if len(f.candidateRecipes) > 0 && quiet < minRoundsWithoutGain {
			more = fmt.Sprintf(" Stop after %d batches in a row that each add no more than %.0f %%.", minRoundsWithoutGain, 100*minFrontGain)
		} else {
			l.Advice = Stop
		}
	}
	l.Text = fmt.Sprintf("%s chance of a recipe that improves the trade-off by more than %.0f %% (of its hypervolume); expected gain %.1f %%.%s",
		chanceText(probability), 100*minFrontGain, 100*gain, more)
	return f.qualifyAdvice(l), nil
}

// roundsSinceGain returns how many rounds with results came after the last round that increased the
// measured hypervolume by more than [minFrontGain].
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
	scaled := pareto.ScaleLosses(all, ideal, pareto.HypervolumeReference(ideal, nadir))
	quiet, before := 0, 0.0
	for _, round := range f.campaign.roundsWithResults() {
		var until [][]float64
		for k, p := range scaled {
			if rounds[k] <= round {
				until = append(until, p)
			}
		}
		volume := pareto.Hypervolume(until, f.referencePoint())
		if quiet++; volume > before*(1+minFrontGain) {
			quiet = 0
		}
		before = volume
	}
	return quiet, nil
}

// measuredLosses returns one point for each recipe that was measured in all objectives of the
// trade-off. The point has the mean loss in each objective. The result rounds has the round of each
// recipe's first trial. Recipes that failed or break a rule or a limit are left out.
func (f *tradeOffOptimizer) measuredLosses() (points [][]float64, rounds []int, err error) {
	broken, err := f.keysMeasuredOutsideLimits()
	if err != nil {
		return nil, nil, err
	}
	numbers, classes := make([][]float64, len(f.tradeObjectives)), make([][]string, len(f.tradeObjectives))
	for i, g := range f.tradeObjectives {
		if g.learntObjective != nil {
			if numbers[i], classes[i], err = f.campaign.measuredValues(g.learntObjective.learningSettings); err != nil {
				return nil, nil, err
			}
		}
	}
	at, trials := make(map[string]int), []float64{}
trials:
	for k, t := range f.campaign.trials {
		if t.failed || len(t.brokenRules) > 0 || broken[t.key] {
			continue
		}
		point := make([]float64, len(f.tradeObjectives))
		for i := range f.tradeObjectives {
			switch g := &f.tradeObjectives[i]; {
			case g.learntObjective == nil:
				if point[i], err = f.computedLoss(g, t.recipe); err != nil {
					return nil, nil, err
				}
			case g.learntObjective.learningSettings.Numeric && math.IsNaN(numbers[i][k]), !g.learntObjective.learningSettings.Numeric && classes[i][k] == "":
				continue trials
			case g.learntObjective.learningSettings.Numeric:
				point[i] = g.lossOfNumber(numbers[i][k])
			default:
				point[i] = -g.learntObjective.measuredDesirability(0, classes[i][k])
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

// describeTradeOffReason returns the reason why a recipe was chosen for the trade-off.
func (f *tradeOffOptimizer) describeTradeOffReason(b *chosenRecipe) Reason {
	var names []string
	for _, g := range f.tradeObjectives {
		names = append(names, g.Name)
	}
	return Reason{Likely, fmt.Sprintf("%s chance to improve the trade-off of %s (on average %.1f %% of its hypervolume)", chanceText(b.beatsProbability), strings.Join(names, ", "), 100*b.expectedImprovement)}
}
