package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A chosenRecipe is a recipe of the batch, with the figures that led to the choice.
type chosenRecipe struct {
	recipe
	reasonKind          ReasonKind         // reasonKind of the reason for the choice
	expectedGain        float64            // expected gain for the batch, in units of utility
	nearestDistance     float64            // nearestDistance to the nearest recipe that was tried, pending or chosen before; NaN for the first recipe of all
	trialID             string             // id of the repeated trial; only for a replicate
	beatsProbability    float64            // probability that the recipe beats all trials
	expectedImprovement float64            // expected improvement over the best trial
	hasImprovementStats bool               // whether beatsProbability and expectedImprovement are set
	tradeOff            *tradeOffOptimizer // optimizer that chose the recipe for a trade-off; nil if there is no trade-off
}

// fitsBatch reports whether a recipe may be added to the batch. The recipe must not exceed the
// remaining stock, the limit on new ingredients or an [alikeLimit].
func (ch *batchOptimizer) fitsBatch(x recipe) bool {
	for _, p := range x.parts {
		if left, ok := ch.unitsInStock[p.Ingredient]; ok && p.Amount > left {
			return false
		}
	}
	return ch.fitsAlikeLimits(x) && (ch.settings.MaxNewIngredients < 0 || ch.countNewIngredients(x.parts) <= ch.settings.MaxNewIngredients)
}

// countNewIngredients returns the number of new ingredients in the batch together with one more
// recipe. An ingredient is new if no tried or pending recipe has it.
func (ch *batchOptimizer) countNewIngredients(parts []mcmc.Part) int {
	fresh := make(map[int]bool)
	for _, b := range ch.batch {
		for _, p := range b.parts {
			if !ch.usedIngredients[p.Ingredient] {
				fresh[p.Ingredient] = true
			}
		}
	}
	for _, p := range parts {
		if !ch.usedIngredients[p.Ingredient] {
			fresh[p.Ingredient] = true
		}
	}
	return len(fresh)
}

// addRecipe adds a recipe to the batch and takes the amounts of the recipe from the stock.
func (ch *batchOptimizer) addRecipe(b chosenRecipe) {
	ch.batch = append(ch.batch, b)
	ch.takeFromStock(b.parts)
	if b.reasonKind != Replicate {
		ch.excludedRecipes[b.recipe.key()] = true
	}
}

// removeRecipe removes the recipe at index k from the batch and returns its amounts to the stock.
func (ch *batchOptimizer) removeRecipe(k int) {
	b := ch.batch[k]
	for _, p := range b.parts {
		if left, ok := ch.unitsInStock[p.Ingredient]; ok {
			ch.unitsInStock[p.Ingredient] = left + p.Amount
		}
	}
	delete(ch.excludedRecipes, b.recipe.key())
	ch.batch = slices.Delete(ch.batch, k, k+1)
}

// costDivisor returns the cost of a recipe, by which expected gains are divided. Without costs the
// divisor is 1.
func (ch *batchOptimizer) costDivisor(parts []mcmc.Part) float64 {
	if ch.ingredientCosts == nil {
		return 1
	}
	sum := 0.0
	for _, p := range parts {
		sum += float64(ch.ingredientCosts[p.Ingredient] * float64(p.Amount))
	}
	return max(sum/float64(ch.campaign.Problem.Total), 1e-9)
}

// chooseFromPool first chooses the batch's values of the limited conditions. It then fills the
// batch with recipes of the pool, one recipe at a time.
func (ch *batchOptimizer) chooseFromPool(p *candidatePool) {
	ch.chooseValues(p.recipes, p.logScores, func(set [][]int32) float64 {
		d, q := ch.clone(), *p
		d.chosenValues = set
		q.incumbentUtilities = slices.Clone(p.incumbentUtilities)
		return d.fillFromPool(&q)
	})
	ch.fillFromPool(p)
}

// fillFromPool fills the batch with recipes of the pool, one recipe at a time. It returns the sum
// of the gains of the recipes, where each gain is computed after the previous recipes were added.
func (ch *batchOptimizer) fillFromPool(p *candidatePool) (gained float64) {
	want := ch.settings.BatchSize - len(ch.batch)
	learn := 0
	if ch.hasWeakModel() && want >= learnPickInterval {
		learn = want / learnPickInterval
	}
	minDistance, radius := ch.minDistance(), ch.diversityRadius()
	used := make([]bool, len(p.recipes))
	for range want {
		kind := Likely
		if len(ch.batch) >= ch.settings.BatchSize-learn {
			kind = Learn
		}
		at := -1
		d := minDistance
		if len(ch.batch)%2 == 1 {
			d = radius
		}
		for ; at < 0; d = float64(d / 2) {
			if d < smallestMinDistance/2 {
				d = 0
			}
			if at = ch.pickCandidate(p, used, kind, d); d == 0 {
				break
			}
		}
		if at < 0 {
			return gained
		}
		used[at] = true
		b := chosenRecipe{recipe: p.recipes[at], reasonKind: kind, expectedGain: ch.expectedGain(p, at), nearestDistance: ch.nearestDistance(p.recipes[at]), hasImprovementStats: true}
		b.beatsProbability, b.expectedImprovement = ch.improvementStats(p, at)
		gained += b.expectedGain
		ch.addRecipe(b)
		for s := range p.incumbentUtilities {
			p.incumbentUtilities[s] = max(p.incumbentUtilities[s], p.utilityDraws[s][at])
		}
	}
	return gained
}

// pickCandidate returns the index of the candidate with the greatest gain, or with kind Learn the
// greatest standard deviation of utility. The candidate must fit the batch and have at least the
// distance apart from the batch and the pending recipes. Among candidates with nearly equal gains,
// pickCandidate prefers the candidate that shares the fewest ingredients with the batch. It returns
// −1 if there is no candidate.
func (ch *batchOptimizer) pickCandidate(p *candidatePool, used []bool, kind ReasonKind, apart float64) int {
	value := make([]float64, len(p.recipes))
	best := math.Inf(-1)
	for k, x := range p.recipes {
		value[k] = math.Inf(-1)
		if used[k] || p.successProbabilities[k] < minSuccessProbability || ch.distanceToBatch(x) < apart || !ch.fitsBatch(x) {
			continue
		}
		if kind == Learn {
			value[k] = p.utilitySD(k) / ch.costDivisor(x.parts)
		} else if value[k] = ch.expectedGain(p, k); value[k] == 0 {
			value[k] = float64(1e-300 * portable.Exp(max(p.logScores[k], -50))) // no gain is expected: rank by score
		}
		best = max(best, value[k])
	}
	if math.IsInf(best, -1) {
		return -1
	}
	at, least := -1, math.Inf(1)
	for k, x := range p.recipes {
		if value[k] >= best*(1-relativeGainTolerance) && !math.IsInf(value[k], -1) {
			if shared := ch.meanSharedIngredients(x.parts); at < 0 || shared < least {
				at, least = k, shared
			}
		}
	}
	return at
}
