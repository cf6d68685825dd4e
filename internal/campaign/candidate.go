package campaign

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/search"
	"kir/mcmc"
)

// A candidate is a recipe that may be chosen for a batch, with the score of the recipe.
type candidate struct {
	recipe
	score float64 // log score, computed by an [acquisition]
}

// compareCandidates orders candidates by descending score, and candidates with equal scores by
// recipe. Different recipes therefore never compare equal, and the order in which a search visits
// recipes does not matter.
func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), compareRecipes(a.recipe, b.recipe))
}

// isFeasible reports whether a recipe satisfies the rules and has an allowed number of
// ingredients.
func (ch *batchOptimizer) isFeasible(r recipe) bool {
	if math.IsInf(ch.ruleTarget.LogLaw(len(r.parts)), -1) {
		return false
	}
	x, err := ch.campaign.toComposition(r)
	if err != nil {
		return false
	}
	score, err := ch.ruleTarget.LogScore(x)
	return err == nil && !math.IsInf(score, -1)
}

// isOfferable reports whether a batch may offer a recipe. The recipe must not be excluded, must
// have at least the least amount of each of its ingredients, and must satisfy the limits on
// predictions. isOfferable does not check the rules of the problem; see
// [batchOptimizer.isFeasible].
func (ch *batchOptimizer) isOfferable(x recipe) bool {
	for _, p := range x.parts {
		if p.Amount < ch.minAmounts[p.Ingredient] {
			return false
		}
	}
	return !ch.excludedRecipes[x.key()] && (ch.predictionLimitsDropped || ch.limitViolation(x) == 0)
}

// selectAnchorTrials returns the indices of the trials with the greatest predicted utilities, best
// first. The result values has the predicted utilities of these trials. Trials that failed or break
// a rule are left out.
func (ch *batchOptimizer) selectAnchorTrials() (best []int, values []float64, err error) {
	value := make([]float64, len(ch.campaign.trials))
	seen := make(map[string]bool)
	for k, t := range ch.campaign.trials {
		if t.failed || len(t.brokenRules) > 0 || seen[t.key] || ch.allowedRecipes == nil && math.IsInf(ch.ruleTarget.LogLaw(len(t.parts)), -1) {
			continue
		}
		seen[t.key] = true
		if value[k], err = ch.predictedUtility(ch.campaign.withGivenConditions(t.recipe)); err != nil {
			return nil, nil, err
		}
		best = append(best, k)
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	best = best[:min(len(best), maxAnchorTrials)]
	return best, elementsAt(value, best), nil
}

// searchCandidates searches for recipes that may be chosen for the batch and returns them, best
// first. The parameter bestUtility is the greatest predicted utility of any trial. The search
// starts from the trials whose indices are in anchorTrials.
func (ch *batchOptimizer) searchCandidates(ctx context.Context, bestUtility float64, anchorTrials []int) ([]candidate, error) {
	a := ch.buildAcquisition(bestUtility)
	if ch.allowedRecipes != nil {
		var all []candidate
		for k, x := range ch.allowedRecipes {
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
		return all[:min(len(all), poolCandidateCount)], nil
	}
	target, err := ch.computedObjectivesTarget.WithObjectives(append(slices.Clone(ch.computedObjectivesTarget.Objectives()), mcmc.Objective{Name: "improvement", Property: a, Weight: 1})...)
	if err != nil {
		return nil, err
	}
	o := search.Options{
		Evaluations: ch.searchLineCount(), Seed: ch.settings.Seed + uint64(ch.round), Workers: ch.settings.Workers,
		Least: ch.minAmounts, DiverseCount: ch.settings.BatchSize, Distance: ch.amountDistance, MinDistance: 0.2,
	}
	for _, k := range anchorTrials {
		x, err := ch.campaign.toComposition(ch.campaign.trials[k].recipe)
		if err != nil {
			return nil, err
		}
		o.Starts = append(o.Starts, x)
	}
	if _, err := search.Best(ctx, target, o); err != nil && !errors.Is(err, mcmc.ErrNoStart) {
		return nil, ch.campaign.Problem.Explain(err)
	}
	random, err := ch.randomRecipes(ctx, randomCandidateCount, ch.newRand(fillStreamName, 1))
	if err != nil {
		return nil, err
	}
	all := a.sortedCandidates()
	var variants []candidate
	if len(ch.conditionValueLimits) > 0 {
		best := make([]recipe, len(all))
		for k := range all {
			best[k] = all[k].recipe
		}
		variants = ch.variantsAtEachValue(best, a.score, poolCandidateCount/3)
	}
	all = all[:min(len(all), poolCandidateCount-len(random)-len(variants))]
	all = append(all, variants...)
	for _, x := range random {
		all = append(all, candidate{x, a.score(x)})
	}
	slices.SortFunc(all, compareCandidates)
	return slices.CompactFunc(all, func(x, y candidate) bool { return compareRecipes(x.recipe, y.recipe) == 0 }), nil
}

// searchLineCount returns how many pairs of ingredients the search examines. For one pair, the
// search scores many divisions of the pair's joint amount. The number is smaller if predictions
// take longer.
func (ch *batchOptimizer) searchLineCount() int {
	rows := 1
	for _, o := range ch.learntObjectives() {
		rows = max(rows, min(o.trainingRowCount, maxRows))
	}
	lines := min(float64(maxSearchLines), 5e8/float64(rows*rows))
	return max(int(lines*min(max(ch.campaign.Problem.Search.Effort, 0.1), 100)), 1000)
}

// randomRecipes draws random recipes exactly from the distribution that the rules define, without
// the objectives. It returns the different recipes that may be offered, at most count. It returns
// fewer if hardly any such recipes exist.
func (ch *batchOptimizer) randomRecipes(ctx context.Context, count int, r *mcmc.Rand) ([]recipe, error) {
	prior := mcmc.NewPrior(ch.ruleTarget)
	seen := make(map[string]bool)
	var all []recipe
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
		y := ch.campaign.recipeFromComposition(x)
		if key := y.key(); !seen[key] {
			seen[key] = true
			if ch.isOfferable(y) {
				all = append(all, y)
			}
		}
	}
	return all, nil
}
