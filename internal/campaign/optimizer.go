package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/internal/problem"
	"kir/internal/search"
	"kir/internal/yield"
	"kir/mcmc"
	"kir/model"
)

// Settings say how a batch is chosen.
type Settings struct {
	Size   int    // recipes
	Seed   uint64 // of all random choices
	MaxNew int    // ingredients at most that nothing tried has; below 0: any number
	Cost   string // attribute of the ingredients: improvement is counted per cost; empty: not

	// AllowedRecipes are the only recipes that may be chosen, by ingredient; nil: all that the
	// problem allows.
	AllowedRecipes [][]mcmc.Part

	Workers int
	Version string // of the program
}

// SettingsOf returns how a problem says that its batches are chosen, by a version of the
// program.
func SettingsOf(p *problem.Problem, version string) Settings {
	return Settings{Size: p.Campaign.Batch, Seed: p.Sampler.Seed, MaxNew: p.Campaign.MaxNew, Cost: p.Campaign.Cost, Version: version}
}

// A batchOptimizer chooses a batch.
type batchOptimizer struct {
	c        *Campaign
	s        Settings
	round    int
	distance *search.Distance

	objectives  []*objective    // that count, with a model or without
	success     *forestEnsemble // the probability that a trial does not fail; nil: none did
	fixedTarget *mcmc.Target    // with the wishes that nothing is learnt for
	ruleTarget  *mcmc.Target    // without wishes
	cost        []float64       // by ingredient, or nil

	excludedRecipes map[string]bool // that are not to be offered
	pending         []*Entry
	minAmounts      []int // doses below which nothing is offered
	stock           map[int]int
	used            []bool // by ingredient: whether anything that was tried or waits has it

	droppedRules   []int // rules that were lifted, to see what they leave out
	anySize        bool  // any number of ingredients is asked for, for the same
	unlimitedStock bool  // what is in stock has no end, for the same
	reach          int   // how many recipes are looked at for the last few; 0: mostReached

	limitsDropped bool // nothing was found within the limits of what is predicted, so that they are not asked for

	batch []chosenRecipe
}

// A chosenRecipe recipe, and what led to it.
type chosenRecipe struct {
	parts       []mcmc.Part
	kind        ReasonKind
	gain        float64 // of the batch, in the scale of utility
	distance    float64 // the distance to what was tried and chosen before
	trialID     string  // of a replicate: the id of the trial
	beats       float64
	improvement float64
	scored      bool
	front       *tradeOffOptimizer // that chose it; nil: none
}

// newBatchOptimizer learns what there is to learn.
func newBatchOptimizer(ctx context.Context, c *Campaign, s Settings) (*batchOptimizer, error) {
	ch := &batchOptimizer{c: c, s: s, round: c.Round() + 1, excludedRecipes: make(map[string]bool), pending: c.pending(), fixedTarget: c.Problem.Target}
	var err error
	if ch.ruleTarget, err = c.Problem.Target.WithObjectives(); err != nil {
		return nil, err
	}
	for k := range c.Problem.Properties {
		w := &c.Problem.Properties[k]
		if w.Learning == nil {
			continue
		}
		o, err := c.learn(ctx, w, ch.objectives, s.Seed)
		if err != nil {
			return nil, err
		}
		ch.objectives = append(ch.objectives, o)
	}
	if err := ch.learnFailures(ctx); err != nil {
		return nil, err
	}
	known, err := c.Problem.KnownRecipes()
	if err != nil {
		return nil, err
	}
	ch.distance = search.NewDistance(len(c.Problem.Ingredients), known)
	ch.used = make([]bool, len(c.Problem.Ingredients))
	for _, t := range c.trials {
		ch.excludedRecipes[t.key] = true
		ch.markUsed(t.parts)
	}
	for _, e := range ch.pending {
		ch.excludedRecipes[e.key] = true
		ch.markUsed(e.parts)
	}
	for key := range c.withdrawnRecipes() {
		ch.excludedRecipes[key] = true
	}
	ch.setAmountBounds()
	if s.Cost != "" {
		if ch.cost, err = c.costs(s.Cost); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

func (ch *batchOptimizer) markUsed(parts []mcmc.Part) {
	for _, p := range parts {
		ch.used[p.Ingredient] = true
	}
}

// setAmountBounds works out doses and stock. Below the least dose that recipes have of an
// ingredient, or of any where none has it, nothing is offered, unless the problem says
// so; above, the rules decide. A stock is for the whole batch and what waits.
func (ch *batchOptimizer) setAmountBounds() {
	p := ch.c.Problem
	ch.minAmounts = make([]int, len(p.Ingredients))
	if len(ch.c.trials) > 0 && !p.Search.AnyDoses {
		smallest := p.Total
		for _, t := range ch.c.trials {
			for _, part := range t.parts {
				if least := ch.minAmounts[part.Ingredient]; least == 0 || part.Amount < least {
					ch.minAmounts[part.Ingredient] = part.Amount
				}
				smallest = min(smallest, part.Amount)
			}
		}
		for i, least := range ch.minAmounts {
			if least == 0 {
				ch.minAmounts[i] = smallest
			}
		}
	}
	ch.stock = ch.remainingStock()
}

// remainingStock returns what is left of ingredients once what waits and was chosen is made.
func (ch *batchOptimizer) remainingStock() map[int]int {
	stock := make(map[int]int)
	if ch.unlimitedStock {
		return stock
	}
	for k, r := range ch.c.Problem.Rules {
		if slices.Contains(ch.droppedRules, k) {
			continue
		}
		for i, there := range r.Stock {
			if least, ok := stock[i]; !ok || there < least {
				stock[i] = there
			}
		}
	}
	take := func(parts []mcmc.Part) {
		for _, p := range parts {
			if left, ok := stock[p.Ingredient]; ok {
				stock[p.Ingredient] = left - p.Amount
			}
		}
	}
	for _, e := range ch.pending {
		take(e.parts)
	}
	for _, b := range ch.batch {
		take(b.parts)
	}
	return stock
}

// takeFromStock takes a recipe out of the stock.
func (ch *batchOptimizer) takeFromStock(parts []mcmc.Part) {
	for _, p := range parts {
		if left, ok := ch.stock[p.Ingredient]; ok {
			ch.stock[p.Ingredient] = left - p.Amount
		}
	}
}

// learnFailures learns which trials fail, if any did.
func (ch *batchOptimizer) learnFailures(ctx context.Context) error {
	failed := 0
	data := &model.Data{Label: "status", Ingredients: ch.c.Problem.Ingredients, Total: ch.c.Problem.Total}
	var recipes [][]mcmc.Part
	for _, t := range ch.c.trials {
		class := "made"
		if t.failed {
			class = "failed"
			failed++
		}
		recipes, data.Classes = append(recipes, t.parts), append(data.Classes, class)
	}
	if failed == 0 || failed == len(recipes) {
		return nil
	}
	data.Rows = rowsOf(recipes)
	var err error
	ch.success, err = newForestEnsemble(ctx, data, model.AnyOf("made"), ch.s.Seed)
	return err
}

// learntObjectives returns the objectives that count and have a model.
func (ch *batchOptimizer) learntObjectives() []*objective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *objective) bool { return o.model == nil || o.weight == 0 })
}

// soleObjective returns the objective if a direction of one number is all that counts: then
// recipes are compared by its model's own values. Else it is nil, and the product of what
// is wanted of each is compared.
func (ch *batchOptimizer) soleObjective() *objective {
	counts := slices.DeleteFunc(slices.Clone(ch.objectives), func(o *objective) bool { return o.weight == 0 })
	if len(counts) != 1 || counts[0].model == nil || counts[0].learning.Want.Direction() == 0 {
		return nil
	}
	if slices.ContainsFunc(ch.fixedTarget.Objectives(), func(w mcmc.Objective) bool { return w.Weight > 0 }) {
		return nil
	}
	return counts[0]
}

// composition returns a recipe as samplers have it.
func (ch *batchOptimizer) composition(parts []mcmc.Part) (*mcmc.Composition, error) {
	return mcmc.NewComposition(len(ch.c.Problem.Ingredients), parts...)
}

// fixedDesirability is the product of the wishes that nothing is learnt for.
func (ch *batchOptimizer) fixedDesirability(parts []mcmc.Part) (float64, error) {
	if len(ch.fixedTarget.Objectives()) == 0 {
		return 1, nil
	}
	x, err := ch.composition(parts)
	if err != nil {
		return 0, err
	}
	scores, err := ch.fixedTarget.AppendScores(nil, x)
	if err != nil {
		return 0, ch.c.Problem.Explain(err)
	}
	y := 1.0
	for k, w := range ch.fixedTarget.Objectives() {
		if w.Weight > 0 {
			y = float64(y * portable.Pow(scores[k], w.Weight))
		}
	}
	return y, nil
}

// isFeasible says whether a recipe keeps the rules and has a size that the law of n has.
func (ch *batchOptimizer) isFeasible(parts []mcmc.Part) bool {
	if math.IsInf(ch.ruleTarget.LogLaw(len(parts)), -1) {
		return false
	}
	x, err := ch.composition(parts)
	if err != nil {
		return false
	}
	score, err := ch.ruleTarget.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

// isOfferable says whether a recipe may be offered at all: rules are not looked at, but limits of
// what the campaign's models predict.
func (ch *batchOptimizer) isOfferable(parts []mcmc.Part) bool {
	for _, p := range parts {
		if p.Amount < ch.minAmounts[p.Ingredient] {
			return false
		}
	}
	return !ch.excludedRecipes[recipeKey(parts)] && (ch.limitsDropped || ch.limitViolation(parts) == 0)
}

// fitsBatch says whether the batch has room for a recipe: in the stock, and among the
// ingredients that may be new.
func (ch *batchOptimizer) fitsBatch(parts []mcmc.Part) bool {
	for _, p := range parts {
		if left, ok := ch.stock[p.Ingredient]; ok && p.Amount > left {
			return false
		}
	}
	return ch.s.MaxNew < 0 || ch.countNewIngredients(parts) <= ch.s.MaxNew
}

// countNewIngredients returns how many ingredients the batch has with a recipe that nothing tried has.
func (ch *batchOptimizer) countNewIngredients(parts []mcmc.Part) int {
	fresh := make(map[int]bool)
	for _, b := range ch.batch {
		for _, p := range b.parts {
			if !ch.used[p.Ingredient] {
				fresh[p.Ingredient] = true
			}
		}
	}
	for _, p := range parts {
		if !ch.used[p.Ingredient] {
			fresh[p.Ingredient] = true
		}
	}
	return len(fresh)
}

// addRecipe puts a recipe into the batch.
func (ch *batchOptimizer) addRecipe(b chosenRecipe) {
	ch.batch = append(ch.batch, b)
	ch.takeFromStock(b.parts)
	if b.kind != Replicate {
		ch.excludedRecipes[recipeKey(b.parts)] = true
	}
}

// removeRecipe takes a recipe out of the batch.
func (ch *batchOptimizer) removeRecipe(k int) {
	b := ch.batch[k]
	for _, p := range b.parts {
		if left, ok := ch.stock[p.Ingredient]; ok {
			ch.stock[p.Ingredient] = left + p.Amount
		}
	}
	delete(ch.excludedRecipes, recipeKey(b.parts))
	ch.batch = slices.Delete(ch.batch, k, k+1)
}

// costDivisor is by what the improvement of a recipe is divided.
func (ch *batchOptimizer) costDivisor(parts []mcmc.Part) float64 {
	if ch.cost == nil {
		return 1
	}
	sum := 0.0
	for _, p := range parts {
		sum += float64(ch.cost[p.Ingredient] * float64(p.Amount))
	}
	return max(sum/float64(ch.c.Problem.Total), 1e-9)
}

// streams of random numbers: what they are for.
const (
	drawStream  = "campaign draws"
	fillStream  = "campaign fill"
	doubtStream = "campaign doubt"
)

func (ch *batchOptimizer) rand(purpose string, index uint64) *mcmc.Rand {
	return mcmc.NewRand(ch.s.Seed, fmt.Sprintf("%s of round %d", purpose, ch.round), index)
}

// Figures of how a batch is chosen; docs/campaign.md says what was tried.
const (
	drawCount         = 256 // joint draws
	doubtDegrees      = 5   // of freedom, of the law by which it is judged what is left
	poolSize          = 300 // candidates that are drawn jointly
	randomPool        = 60  // of them that are drawn from the law of the problem
	anchorCount       = 24  // recipes that were tried, the best predicted, that are drawn with them
	weakR2            = 0.15
	learnShare        = 4    // one recipe in so many is for learning while the model is weak
	weakModelDistance = 0.3  // how far recipes are apart while a model predicts nothing
	leastDistance     = 0.02 // and when it predicts all
	shrinkAfterTrials = 20   // trials, from which on every second recipe is less far from the others
	gainTolerance     = 0.01 // gains within this share of the best are alike
	leastSuccess      = 0.2  // probability of not failing below which nothing is offered for what it may gain
	minNoiseFreedom   = 2    // degrees of freedom of replicates from which noise is known
	maxSearchLines    = 12_000

	limitPenalty = 100 // what a shortfall of 1 takes of a log score, so that a search comes back
)

// minDistance is how far recipes of a batch are to be apart: the less the better the models
// predict.
func (ch *batchOptimizer) minDistance() float64 {
	r2, n := 0.0, 0
	for _, o := range ch.learntObjectives() {
		if v := o.model.R2(); !math.IsNaN(v) {
			r2 += min(max(v, 0), 1)
			n++
		}
	}
	if n > 0 {
		r2 /= float64(n)
	}
	return max(weakModelDistance*portable.Pow(1-r2, 3), leastDistance)
}

// diversityRadius is how far every second recipe of a batch is from the others: the less the more was
// tried.
func (ch *batchOptimizer) diversityRadius() float64 {
	return max(weakModelDistance*math.Sqrt(shrinkAfterTrials/float64(max(len(ch.c.trials), shrinkAfterTrials))), ch.minDistance())
}

// hasWeakModel says whether the models predict hardly anything.
func (ch *batchOptimizer) hasWeakModel() bool {
	return slices.ContainsFunc(ch.learntObjectives(), func(o *objective) bool { return !(o.model.R2() >= weakR2) })
}

// A pool is recipes with joint draws of their utilities.
type pool struct {
	parts              [][]mcmc.Part
	scores             []float64   // log scores of the acquisition
	utility            [][]float64 // by draw: candidates, then anchors, then what waits
	studentUtility     [][]float64 // the same, of draws that are doubted
	anchors            []int       // trials
	waiting            int         // how many of the recipes wait
	successProbability []float64   // the probability that a candidate does not fail

	bestPredicted    float64   // the best predicted utility of what was tried
	tried            []float64 // by draw: the best utility of what was tried
	incumbent        []float64 // by draw: that, what waits and what was chosen, at least b
	studentIncumbent []float64 // by draw that is doubted: the utility of the best predicted of what was tried
}

// draws returns joint draws of the values of recipes, by objective that is learnt.
func (ch *batchOptimizer) draws(xs [][]mcmc.Part) (all [][][]float64) {
	learnt := ch.learntObjectives()
	for k, o := range learnt {
		if at := slices.IndexFunc(learnt[:k], func(b *objective) bool { return b.model == o.model }); at >= 0 {
			all = append(all, all[at])
			continue
		}
		all = append(all, o.model.Draws(xs, drawCount, ch.rand(drawStream, uint64(k))))
	}
	return all
}

// utilities returns the utilities of recipes, by draw, given draws of their values.
func (ch *batchOptimizer) utilities(xs [][]mcmc.Part, draws [][][]float64) ([][]float64, error) {
	if ch.soleObjective() != nil {
		return draws[0], nil
	}
	out := make([][]float64, drawCount)
	for s := range out {
		out[s] = make([]float64, len(xs))
	}
	for a, x := range xs {
		y, err := ch.fixedDesirability(x)
		if err != nil {
			return nil, err
		}
		for s := range out {
			out[s][a] = y
		}
	}
	for k, o := range ch.learntObjectives() {
		for s := range out {
			for a := range xs {
				out[s][a] = float64(out[s][a] * portable.Pow(o.predictedDesirability(draws[k][s][a]), o.weight))
			}
		}
	}
	return out, nil
}

// studentDraws returns draws of values as a model states them that may be wrong about its own
// uncertainty: each draw is stretched about the mean, together for all recipes, so that
// they follow Student's law with doubtDegrees degrees of freedom instead of a normal one.
func (ch *batchOptimizer) studentDraws(draws [][][]float64) [][][]float64 {
	if len(draws) == 0 {
		return nil
	}
	by := make([]float64, len(draws[0]))
	r := ch.rand(doubtStream, 0)
	for s := range by {
		square := 0.0
		for range doubtDegrees {
			z := drawNormal(r)
			square += float64(z * z)
		}
		by[s] = math.Sqrt(doubtDegrees / square)
	}
	all := make([][][]float64, len(draws))
	for k, of := range draws {
		mean := make([]float64, len(of[0]))
		for _, draw := range of {
			for a, v := range draw {
				mean[a] += v / float64(len(of))
			}
		}
		for s, draw := range of {
			wide := make([]float64, len(draw))
			for a, v := range draw {
				wide[a] = mean[a] + float64(by[s]*(v-mean[a]))
			}
			all[k] = append(all[k], wide)
		}
	}
	return all
}

// anchors returns the trials that may be the best: those that keep the rules and did not
// fail, the best predicted first.
func (ch *batchOptimizer) anchors() (best []int, values []float64, err error) {
	value := make([]float64, len(ch.c.trials))
	seen := make(map[string]bool)
	for k, t := range ch.c.trials {
		if t.failed || len(t.broken) > 0 || seen[t.key] || ch.s.AllowedRecipes == nil && math.IsInf(ch.ruleTarget.LogLaw(len(t.parts)), -1) {
			continue
		}
		seen[t.key] = true
		if value[k], err = ch.predictedUtility(t.parts); err != nil {
			return nil, nil, err
		}
		best = append(best, k)
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	best = best[:min(len(best), anchorCount)]
	return best, gather(value, best), nil
}

// predictedUtility is the predicted utility of a recipe.
func (ch *batchOptimizer) predictedUtility(x []mcmc.Part) (float64, error) {
	if o := ch.soleObjective(); o != nil {
		mean, _ := o.model.Predict(x)
		return mean, nil
	}
	y, err := ch.fixedDesirability(x)
	if err != nil {
		return 0, err
	}
	for _, o := range ch.learntObjectives() {
		mean, _ := o.model.Predict(x)
		y = float64(y * portable.Pow(o.predictedDesirability(mean), o.weight))
	}
	return y, nil
}

// buildAcquisition returns what is looked for, given the best predicted utility of what was tried.
func (ch *batchOptimizer) buildAcquisition(b float64) *acquisition {
	alone, learnt := ch.soleObjective(), ch.learntObjectives()
	score := func(x []mcmc.Part) float64 {
		sum := 0.0
		if alone != nil {
			mean, sd := alone.model.Predict(x)
			sum = logImprovement(mean, sd, b)
		} else {
			for _, o := range learnt {
				sum += float64(o.weight * portable.Log(max(o.optimisticDesirability(x), math.SmallestNonzeroFloat64)))
			}
		}
		if ch.success != nil {
			p, _ := ch.success.Predict(x)
			sum += portable.Log(max(p, 1e-3))
		}
		if ch.cost != nil {
			sum -= portable.Log(ch.costDivisor(x))
		}
		return sum - float64(limitPenalty*ch.limitViolation(x))
	}
	return newAcquisition(ch.c.Problem.Total, score, func(x []mcmc.Part) bool { return ch.isOfferable(x) && ch.isFeasible(x) })
}

// candidates returns recipes that may be chosen, the best first.
func (ch *batchOptimizer) candidates(ctx context.Context, b float64, anchors []int) ([]candidate, error) {
	a := ch.buildAcquisition(b)
	if ch.s.AllowedRecipes != nil {
		var all []candidate
		for k, x := range ch.s.AllowedRecipes {
			if k&255 == 0 {
				if err := yield.Err(ctx); err != nil {
					return nil, err
				}
			}
			if ch.isOfferable(x) {
				all = append(all, candidate{x, a.score(x)})
			}
		}
		slices.SortFunc(all, compareCandidates)
		return all[:min(len(all), poolSize)], nil
	}
	target, err := ch.fixedTarget.WithObjectives(append(slices.Clone(ch.fixedTarget.Objectives()), mcmc.Objective{Name: "improvement", Property: a, Weight: 1})...)
	if err != nil {
		return nil, err
	}
	o := search.Options{
		Evaluations: ch.effort(), Seed: ch.s.Seed + uint64(ch.round), Workers: ch.s.Workers,
		Least: ch.minAmounts, Diverse: ch.s.Size, Distance: ch.distance, Apart: 0.2,
	}
	for _, k := range anchors {
		x, err := ch.composition(ch.c.trials[k].parts)
		if err != nil {
			return nil, err
		}
		o.Starts = append(o.Starts, x)
	}
	if _, err := search.Best(ctx, target, o); err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return nil, ch.c.Problem.Explain(err)
	}
	random, err := ch.randomRecipes(ctx, randomPool, ch.rand(fillStream, 1))
	if err != nil {
		return nil, err
	}
	all := a.sorted()
	all = all[:min(len(all), poolSize-len(random))]
	for _, x := range random {
		all = append(all, candidate{x, a.score(x)})
	}
	slices.SortFunc(all, compareCandidates)
	return slices.CompactFunc(all, func(x, y candidate) bool { return compareParts(x.parts, y.parts) == 0 }), nil
}

// effort is how many lines are searched: fewer where a prediction takes longer.
func (ch *batchOptimizer) effort() int {
	rows := 1
	for _, o := range ch.learntObjectives() {
		rows = max(rows, min(o.rows, mostRows))
	}
	lines := min(float64(maxSearchLines), 5e8/float64(rows*rows))
	return max(int(lines*min(max(ch.c.Problem.Search.Effort, 0.1), 100)), 1000)
}

// randomRecipes returns different recipes that are drawn exactly from the law of the problem and
// may be offered; fewer where there are hardly any.
func (ch *batchOptimizer) randomRecipes(ctx context.Context, count int, r *mcmc.Rand) ([][]mcmc.Part, error) {
	prior := mcmc.NewPrior(ch.ruleTarget)
	seen := make(map[string]bool)
	var all [][]mcmc.Part
	for try := 0; try < 20*count && len(all) < count; try++ {
		if err := yield.Err(ctx); err != nil {
			return nil, err
		}
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break
		}
		if err != nil {
			return nil, err
		}
		parts := sortParts(x.Parts())
		if key := recipeKey(parts); !seen[key] {
			seen[key] = true
			if ch.isOfferable(parts) {
				all = append(all, parts)
			}
		}
	}
	return all, nil
}

// newPool draws candidates, anchors and what waits jointly.
func (ch *batchOptimizer) newPool(all []candidate, anchors []int, b float64) (*pool, error) {
	p := &pool{anchors: anchors, waiting: len(ch.pending), bestPredicted: b}
	for _, c := range all {
		ok := 1.0
		if ch.success != nil {
			ok, _ = ch.success.Predict(c.parts)
		}
		p.parts, p.scores, p.successProbability = append(p.parts, c.parts), append(p.scores, c.score), append(p.successProbability, ok)
	}
	xs := slices.Clone(p.parts)
	for _, k := range anchors {
		xs = append(xs, ch.c.trials[k].parts)
	}
	for _, e := range ch.pending {
		xs = append(xs, e.parts)
	}
	draws := ch.draws(xs)
	var err error
	if p.utility, err = ch.utilities(xs, draws); err != nil {
		return nil, err
	}
	if p.studentUtility, err = ch.utilities(xs, ch.studentDraws(draws)); err != nil {
		return nil, err
	}
	first, wait := len(p.parts), len(p.parts)+len(anchors)
	for _, draw := range p.utility {
		tried := math.Inf(-1)
		for _, v := range draw[first:wait] {
			tried = max(tried, v)
		}
		level := b
		for _, v := range draw[wait:] {
			level = max(level, v)
		}
		p.tried, p.incumbent = append(p.tried, tried), append(p.incumbent, level)
	}
	for _, draw := range p.studentUtility {
		rival := math.Inf(-1)
		if len(anchors) > 0 {
			rival = draw[first] // the greatest of all draws would be so by chance where little is known
		}
		p.studentIncumbent = append(p.studentIncumbent, rival)
	}
	return p, nil
}

// bestUtilities returns the best of a draw among what was not measured yet, candidates and what
// waits, and among what was tried.
func (p *pool) bestUtilities(draw []float64) (left, tried float64) {
	left, tried = math.Inf(-1), math.Inf(-1)
	for k, v := range draw {
		if k < len(p.parts) || k >= len(draw)-p.waiting {
			left = max(left, v)
		} else {
			tried = max(tried, v)
		}
	}
	return left, tried
}

// gain is what a recipe of the pool adds to what was chosen before, on average.
func (ch *batchOptimizer) gain(p *pool, k int) float64 {
	sum := 0.0
	for s, draw := range p.utility {
		sum += max(draw[k]-p.incumbent[s], 0)
	}
	sum = float64(sum / float64(len(p.utility)) * p.successProbability[k])
	return sum / ch.costDivisor(p.parts[k])
}

// nearestDistance is the distance of a recipe to what was tried, waits or was chosen.
func (ch *batchOptimizer) nearestDistance(x []mcmc.Part) float64 {
	near := ch.distanceToBatch(x)
	for _, t := range ch.c.trials {
		near = min(near, ch.distance.Between(t.parts, x))
	}
	return near
}

// distanceToBatch is the distance to what waits or was chosen.
func (ch *batchOptimizer) distanceToBatch(x []mcmc.Part) float64 {
	near := 1.0
	for _, e := range ch.pending {
		near = min(near, ch.distance.Between(e.parts, x))
	}
	for _, b := range ch.batch {
		near = min(near, ch.distance.Between(b.parts, x))
	}
	return near
}

// chooseFromPool fills the batch from a pool, one recipe at a time.
func (ch *batchOptimizer) chooseFromPool(p *pool) {
	want := ch.s.Size - len(ch.batch)
	learn := 0
	if ch.hasWeakModel() && want >= learnShare {
		learn = want / learnShare
	}
	apart, wide := ch.minDistance(), ch.diversityRadius()
	used := make([]bool, len(p.parts))
	for range want {
		kind := Likely
		if len(ch.batch) >= ch.s.Size-learn {
			kind = Learn
		}
		at := -1
		d := apart
		if len(ch.batch)%2 == 1 {
			d = wide
		}
		for ; at < 0; d = float64(d / 2) {
			if d < leastDistance/2 {
				d = 0
			}
			if at = ch.pickCandidate(p, used, kind, d); d == 0 {
				break
			}
		}
		if at < 0 {
			return
		}
		used[at] = true
		b := chosenRecipe{parts: p.parts[at], kind: kind, gain: ch.gain(p, at), distance: ch.nearestDistance(p.parts[at]), scored: true}
		b.beats, b.improvement = ch.improvementStats(p, at)
		ch.addRecipe(b)
		for s := range p.incumbent {
			p.incumbent[s] = max(p.incumbent[s], p.utility[s][at])
		}
	}
}

// pickCandidate returns the recipe of the pool of greatest gain, or for learning of greatest
// spread, that is at least so far from the others and fits the batch; −1 for none. Of
// those that gain alike it is the one that shares least with the batch.
func (ch *batchOptimizer) pickCandidate(p *pool, used []bool, kind ReasonKind, apart float64) int {
	value := make([]float64, len(p.parts))
	best := math.Inf(-1)
	for k, x := range p.parts {
		value[k] = math.Inf(-1)
		if used[k] || p.successProbability[k] < leastSuccess || ch.distanceToBatch(x) < apart || !ch.fitsBatch(x) {
			continue
		}
		if kind == Learn {
			value[k] = p.utilitySD(k) / ch.costDivisor(x)
		} else if value[k] = ch.gain(p, k); value[k] == 0 {
			value[k] = float64(1e-300 * portable.Exp(max(p.scores[k], -50))) // nothing is expected of any: the likeliest
		}
		best = max(best, value[k])
	}
	if math.IsInf(best, -1) {
		return -1
	}
	at, least := -1, math.Inf(1)
	for k, x := range p.parts {
		if value[k] >= best*(1-gainTolerance) && !math.IsInf(value[k], -1) {
			if shared := ch.meanSharedIngredients(x); at < 0 || shared < least {
				at, least = k, shared
			}
		}
	}
	return at
}

// meanSharedIngredients is how many ingredients a recipe shares with others of the batch, on average.
func (ch *batchOptimizer) meanSharedIngredients(x []mcmc.Part) float64 {
	n := 0
	for _, b := range ch.batch {
		for _, p := range x {
			if slices.ContainsFunc(b.parts, func(q mcmc.Part) bool { return q.Ingredient == p.Ingredient }) {
				n++
			}
		}
	}
	return float64(n) / float64(max(len(ch.batch), 1))
}

// utilitySD is the standard deviation of a recipe's utility.
func (p *pool) utilitySD(k int) float64 {
	mean, sum := 0.0, 0.0
	for _, draw := range p.utility {
		mean += draw[k] / float64(len(p.utility))
	}
	for _, draw := range p.utility {
		sum += float64((draw[k] - mean) * (draw[k] - mean))
	}
	return math.Sqrt(sum / float64(len(p.utility)-1))
}

// improvementStats returns the probability that a recipe of the pool beats all that was tried: by draws
// that are doubted, in which it beats the best predicted of these. And it returns its expected
// improvement over that: in the label's unit where one label is all that counts.
func (ch *batchOptimizer) improvementStats(p *pool, k int) (beats, better float64) {
	alone := ch.soleObjective()
	for s, draw := range p.utility {
		if p.studentUtility[s][k] > p.studentIncumbent[s] {
			beats++
		}
		if draw[k] > p.bestPredicted {
			if alone != nil {
				better += math.Abs(alone.labelValue(draw[k]) - alone.labelValue(p.bestPredicted))
			} else {
				better += draw[k] - p.bestPredicted
			}
		}
	}
	n := float64(len(p.utility))
	return float64(beats / n * p.successProbability[k]), float64(better / n * p.successProbability[k])
}
