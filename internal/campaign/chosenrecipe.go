package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A chosenRecipe is a recipe that was chosen for the batch, with the statistics behind the choice.
type chosenRecipe struct {
	recipe
	reasonKind          ReasonKind         // kind of the reason for the choice
	expectedGain        float64            // expected gain for the batch, in the unit of the utility
	nearestDistance     float64            // distance to the nearest recipe that was tried, pending or chosen before; NaN for the first recipe of a campaign
	repeatedTrialID     string             // id of the trial that the recipe repeats; empty unless reasonKind is Replicate
	beatsProbability    float64            // probability that the recipe beats all trials
	expectedImprovement float64            // expected improvement over the best trial
	hasImprovementStats bool               // whether beatsProbability and expectedImprovement are set
	tradeOff            *tradeOffOptimizer // optimizer that chose the recipe; nil if the problem has no trade-off
}

// fitsBatch reports whether a recipe may be added to the batch without exceeding the remaining
// stock, the limit on new ingredients or a [conditionValueLimit].
func (ch *batchOptimizer) fitsBatch(x recipe) bool {
	for _, p := range x.parts {
		if left, ok := ch.unitsInStock[p.Ingredient]; ok && p.Amount > left {
			return false
		}
	}
	return ch.fitsConditionValueLimits(x) && (ch.settings.MaxNewIngredients < 0 || ch.countNewIngredients(x.parts) <= ch.settings.MaxNewIngredients)
}

// countNewIngredients returns how many new ingredients the batch has after one more recipe is
// added. An ingredient is new if no tried or pending recipe contains it.
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

// removeRecipe removes the recipe at the given index from the batch and returns its amounts to the
// stock.
func (ch *batchOptimizer) removeRecipe(index int) {
	b := ch.batch[index]
	for _, p := range b.parts {
		if left, ok := ch.unitsInStock[p.Ingredient]; ok {
			ch.unitsInStock[p.Ingredient] = left + p.Amount
		}
	}
	delete(ch.excludedRecipes, b.recipe.key())
	ch.batch = slices.Delete(ch.batch, index, index+1)
}

// costDivisor returns the cost of a recipe, by which the expected gain of the recipe is divided. If
// the problem has no costs, costDivisor returns 1.
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

// chooseFromPool fills the batch with recipes of the pool. Before that, it chooses which values the
// batch may have of the conditions with a [conditionValueLimit].
func (ch *batchOptimizer) chooseFromPool(p *candidatePool) {
	ch.chooseConditionValues(p.recipes, p.logScores, func(set [][]int32) float64 {
		d, q := ch.clone(), *p
		d.chosenConditionValues = set
		q.incumbentUtilities = slices.Clone(p.incumbentUtilities)
		return d.fillFromPool(&q)
	})
	ch.fillFromPool(p)
}

// fillFromPool fills the batch with recipes of the pool, one recipe at a time. It returns the sum
// of the expected gains. The gain of each recipe is relative to the recipes added before.
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
		b.beatsProbability = multiplyOdds(b.beatsProbability, ch.oddsFactor)
		gained += b.expectedGain
		ch.addRecipe(b)
		for s := range p.incumbentUtilities {
			p.incumbentUtilities[s] = max(p.incumbentUtilities[s], p.utilityDraws[s][at])
		}
	}
	return gained
}

// pickCandidate returns the index of the candidate with the greatest expected gain or, if kind is
// Learn, with the greatest standard deviation of the utility. The candidate must fit the batch and
// be at least minDistance away from the recipes of the batch and the pending recipes. Among
// candidates with nearly equal gains, pickCandidate prefers the candidate that shares the fewest
// ingredients with the batch. It returns −1 if there is no candidate.
func (ch *batchOptimizer) pickCandidate(p *candidatePool, used []bool, kind ReasonKind, minDistance float64) int {
	value := make([]float64, len(p.recipes))
	best := math.Inf(-1)
	for k, x := range p.recipes {
		value[k] = math.Inf(-1)
		if used[k] || p.successProbabilities[k] < minSuccessProbability || ch.distanceToBatch(x) < minDistance || !ch.fitsBatch(x) {
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
