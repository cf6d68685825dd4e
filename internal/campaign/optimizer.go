package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/portable"
	"kir/internal/problem"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
)

// Settings say how a batch is chosen.
type Settings struct {
	Size   int    // recipes
	Seed   uint64 // of all random choices
	MaxNew int    // greatest number of ingredients that no trial has; below 0: no limit
	Cost   string // attribute with the costs of ingredients; improvement is then per cost; empty: not

	// AllowedRecipes are the only recipes that may be chosen, with parts sorted by ingredient.
	// nil allows every recipe that the problem allows.
	AllowedRecipes [][]mcmc.Part

	Workers int
	Version string // of the program
}

// SettingsOf returns the settings that a problem states, for a version of the program.
func SettingsOf(p *problem.Problem, version string) Settings {
	return Settings{Size: p.Campaign.Batch, Seed: p.Sampler.Seed, MaxNew: p.Campaign.MaxNew, Cost: p.Campaign.Cost, Version: version}
}

// A batchOptimizer chooses the recipes of a batch.
type batchOptimizer struct {
	c        *Campaign
	s        Settings
	round    int
	distance *search.Distance

	objectives  []*objective    // all learnt properties, with a model or without
	success     *forestEnsemble // the probability that a trial does not fail; nil: no model
	fixedTarget *mcmc.Target    // has the objectives that are not learnt
	ruleTarget  *mcmc.Target    // has no objectives
	cost        []float64       // by ingredient; nil: improvement is not divided by cost

	excludedRecipes map[string]bool // keys of recipes that must not be offered
	pending         []*Entry
	minAmounts      []int // by ingredient: the least amount to offer
	stock           map[int]int
	used            []bool // by ingredient: whether a tried or pending recipe has it

	droppedRules   []int // indices of rules that explainExhaustion lifted
	anySize        bool  // explainExhaustion lifted the law of the number of ingredients
	unlimitedStock bool  // explainExhaustion lifted the limits of the stock
	reach          int   // number of recipes that completeBatch visits; 0: mostReached

	limitsDropped bool // limits on predictions are not enforced, because no recipe was found within them

	batch []chosenRecipe
}

// A chosenRecipe is a recipe of the batch, with the figures that led to its choice.
type chosenRecipe struct {
	parts       []mcmc.Part
	kind        ReasonKind
	gain        float64 // expected gain for the batch, in units of utility
	distance    float64 // distance to the nearest recipe tried, pending or chosen before
	trialID     string  // for a replicate: the id of the trial
	beats       float64
	improvement float64
	scored      bool
	front       *tradeOffOptimizer // the optimizer that chose it for a trade-off; else nil
}

// newBatchOptimizer learns the models and prepares the choice of a batch.
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

// setAmountBounds sets minAmounts and stock. The least amount of an ingredient is the least in
// any trial. For an ingredient in no trial it is the least amount of any ingredient. The
// problem may lift these bounds. Rules alone bound amounts from above. The stock serves the
// whole batch and the pending recipes.
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

// remainingStock returns the stock of ingredients minus the pending and chosen recipes.
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

// takeFromStock subtracts a recipe from the stock.
func (ch *batchOptimizer) takeFromStock(parts []mcmc.Part) {
	for _, p := range parts {
		if left, ok := ch.stock[p.Ingredient]; ok {
			ch.stock[p.Ingredient] = left - p.Amount
		}
	}
}

// learnFailures learns which trials fail. There is no model if all trials failed or none did.
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

// learntObjectives returns the objectives that have a weight and a model.
func (ch *batchOptimizer) learntObjectives() []*objective {
	return slices.DeleteFunc(slices.Clone(ch.objectives), func(o *objective) bool { return o.model == nil || o.weight == 0 })
}

// soleObjective returns the objective if the problem only maximises or minimises one learnt
// number. Recipes are then compared by the values of its model. Otherwise it returns nil, and
// recipes are compared by the product of their desirabilities.
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

// composition converts a recipe to a composition of package mcmc.
func (ch *batchOptimizer) composition(parts []mcmc.Part) (*mcmc.Composition, error) {
	return mcmc.NewComposition(len(ch.c.Problem.Ingredients), parts...)
}

// fixedDesirability returns the product of the desirabilities of the objectives that are not
// learnt.
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

// isFeasible reports whether a recipe satisfies the rules and has an allowed number of
// ingredients.
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

// isOfferable reports whether a recipe may be offered: it is not excluded, has the least
// amounts and satisfies the limits on predictions. It does not check rules.
func (ch *batchOptimizer) isOfferable(parts []mcmc.Part) bool {
	for _, p := range parts {
		if p.Amount < ch.minAmounts[p.Ingredient] {
			return false
		}
	}
	return !ch.excludedRecipes[recipeKey(parts)] && (ch.limitsDropped || ch.limitViolation(parts) == 0)
}

// fitsBatch reports whether the stock and the limit on new ingredients leave room for a recipe
// in the batch.
func (ch *batchOptimizer) fitsBatch(parts []mcmc.Part) bool {
	for _, p := range parts {
		if left, ok := ch.stock[p.Ingredient]; ok && p.Amount > left {
			return false
		}
	}
	return ch.s.MaxNew < 0 || ch.countNewIngredients(parts) <= ch.s.MaxNew
}

// countNewIngredients returns how many ingredients of the batch, with a further recipe, are in
// no tried or pending recipe.
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

// addRecipe adds a recipe to the batch.
func (ch *batchOptimizer) addRecipe(b chosenRecipe) {
	ch.batch = append(ch.batch, b)
	ch.takeFromStock(b.parts)
	if b.kind != Replicate {
		ch.excludedRecipes[recipeKey(b.parts)] = true
	}
}

// removeRecipe removes the k-th recipe from the batch.
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

// costDivisor returns the cost of a recipe, by which its improvement is divided. It is 1
// without costs.
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

// Names of the streams of random numbers.
const (
	drawStream  = "campaign draws"
	fillStream  = "campaign fill"
	doubtStream = "campaign doubt"
)

func (ch *batchOptimizer) rand(purpose string, index uint64) *mcmc.Rand {
	return mcmc.NewRand(ch.s.Seed, fmt.Sprintf("%s of round %d", purpose, ch.round), index)
}

// Settings of the choice of a batch. docs/campaign.md describes what was tried.
const (
	drawCount         = 256 // joint draws
	doubtDegrees      = 5   // degrees of freedom of Student's law, by which improvement probabilities are computed
	poolSize          = 300 // candidates drawn jointly
	randomPool        = 60  // number of candidates that are random recipes of the problem
	anchorCount       = 24  // trials drawn jointly with the candidates, those with the best predictions
	weakR2            = 0.15
	learnShare        = 4    // with a weak model, one recipe in learnShare is chosen to learn from
	weakModelDistance = 0.3  // distance between recipes of a batch if the models predict nothing
	leastDistance     = 0.02 // and if they predict everything
	shrinkAfterTrials = 20   // from this number of trials on, diversityRadius shrinks
	gainTolerance     = 0.01 // gains within this share of the best count as equal
	leastSuccess      = 0.2  // candidates are not offered below this probability of not failing
	minNoiseFreedom   = 2    // degrees of freedom of replicates from which the noise counts as known
	maxSearchLines    = 12_000

	limitPenalty = 100 // reduction of a log score per unit of limit violation, so that the search returns within the limits
)

// minDistance returns the least distance between recipes of a batch. It shrinks as the models
// predict better.
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

// diversityRadius returns the least distance of every second recipe of a batch from the
// others. It shrinks as trials are added.
func (ch *batchOptimizer) diversityRadius() float64 {
	return max(weakModelDistance*math.Sqrt(shrinkAfterTrials/float64(max(len(ch.c.trials), shrinkAfterTrials))), ch.minDistance())
}

// hasWeakModel reports whether a model predicts hardly anything.
func (ch *batchOptimizer) hasWeakModel() bool {
	return slices.ContainsFunc(ch.learntObjectives(), func(o *objective) bool { return !(o.model.R2() >= weakR2) })
}

// A pool has candidate recipes with joint draws of their utilities.
type pool struct {
	parts              [][]mcmc.Part
	scores             []float64   // log scores of the acquisition
	utility            [][]float64 // by draw, by recipe: candidates, then anchors, then pending recipes
	studentUtility     [][]float64 // like utility, for draws with Student's law
	anchors            []int       // indices of trials
	waiting            int         // number of pending recipes
	successProbability []float64   // by candidate: the probability that it does not fail

	bestPredicted    float64   // the best predicted utility of a trial
	tried            []float64 // by draw: the best utility of a trial
	incumbent        []float64 // by draw: the best utility of pending and chosen recipes, at least bestPredicted
	studentIncumbent []float64 // by Student draw: the utility of the trial with the best prediction
}

// draws returns joint draws of the models' values: by learnt objective, by draw, by recipe.
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

// utilities converts draws of values to utilities: by draw, by recipe.
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

// studentDraws widens draws, since a model may be wrong about its own uncertainty. Each draw
// is stretched about the mean by one factor for all recipes. The result follows Student's law
// with doubtDegrees degrees of freedom instead of a normal law.
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
			stretched := make([]float64, len(draw))
			for a, v := range draw {
				stretched[a] = mean[a] + float64(by[s]*(v-mean[a]))
			}
			all[k] = append(all[k], stretched)
		}
	}
	return all
}

// anchors returns the trials that may be the best, with their predicted utilities, the best
// first. Trials that failed or break a rule are left out.
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

// predictedUtility returns the utility of a recipe at the models' means.
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

// buildAcquisition returns the acquisition to search with. b is the best predicted utility of
// a trial.
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

// candidates returns recipes that may be chosen, the best first. b is the best predicted
// utility of a trial.
func (ch *batchOptimizer) candidates(ctx context.Context, b float64, anchors []int) ([]candidate, error) {
	a := ch.buildAcquisition(b)
	if ch.s.AllowedRecipes != nil {
		var all []candidate
		for k, x := range ch.s.AllowedRecipes {
			if k&255 == 0 {
				if err := browsersched.Err(ctx); err != nil {
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

// effort returns how many lines the search scores: fewer if a prediction takes longer.
func (ch *batchOptimizer) effort() int {
	rows := 1
	for _, o := range ch.learntObjectives() {
		rows = max(rows, min(o.rows, mostRows))
	}
	lines := min(float64(maxSearchLines), 5e8/float64(rows*rows))
	return max(int(lines*min(max(ch.c.Problem.Search.Effort, 0.1), 100)), 1000)
}

// randomRecipes returns distinct offerable recipes drawn exactly from the law of the problem.
// It returns fewer than count if hardly any exist.
func (ch *batchOptimizer) randomRecipes(ctx context.Context, count int, r *mcmc.Rand) ([][]mcmc.Part, error) {
	prior := mcmc.NewPrior(ch.ruleTarget)
	seen := make(map[string]bool)
	var all [][]mcmc.Part
	for try := 0; try < 20*count && len(all) < count; try++ {
		if err := browsersched.Err(ctx); err != nil {
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

// newPool draws the utilities of candidates, anchors and pending recipes jointly. b is the
// best predicted utility of a trial.
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
			rival = draw[first] // not the greatest of each draw, which would be great by chance where little is known
		}
		p.studentIncumbent = append(p.studentIncumbent, rival)
	}
	return p, nil
}

// bestUtilities returns the best utility of a draw over the recipes without a result,
// candidates and pending, and over the trials.
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

// gain returns the mean improvement of candidate k over the incumbent, times its probability
// of not failing, per cost.
func (ch *batchOptimizer) gain(p *pool, k int) float64 {
	sum := 0.0
	for s, draw := range p.utility {
		sum += max(draw[k]-p.incumbent[s], 0)
	}
	sum = float64(sum / float64(len(p.utility)) * p.successProbability[k])
	return sum / ch.costDivisor(p.parts[k])
}

// nearestDistance returns the distance of a recipe to the nearest recipe tried, pending or
// chosen.
func (ch *batchOptimizer) nearestDistance(x []mcmc.Part) float64 {
	near := ch.distanceToBatch(x)
	for _, t := range ch.c.trials {
		near = min(near, ch.distance.Between(t.parts, x))
	}
	return near
}

// distanceToBatch returns the distance of a recipe to the nearest recipe pending or chosen.
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
	minDistance, radius := ch.minDistance(), ch.diversityRadius()
	used := make([]bool, len(p.parts))
	for range want {
		kind := Likely
		if len(ch.batch) >= ch.s.Size-learn {
			kind = Learn
		}
		at := -1
		d := minDistance
		if len(ch.batch)%2 == 1 {
			d = radius
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

// pickCandidate returns the candidate with the greatest gain, or for Learn with the greatest
// standard deviation of utility. It must be at least apart from the others and fit the batch.
// Among equal gains it prefers the one that shares the fewest ingredients with the batch. −1
// means none.
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
			value[k] = float64(1e-300 * portable.Exp(max(p.scores[k], -50))) // no gain is expected: rank by score
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

// meanSharedIngredients returns how many ingredients a recipe shares with a recipe of the
// batch, on average.
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

// utilitySD returns the standard deviation of a candidate's utility over the draws.
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

// improvementStats returns the probability that candidate k beats all trials, and its expected
// improvement over them. The probability comes from the Student draws, compared with the trial
// of the best prediction. The improvement is in the label's unit if there is a sole objective.
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
