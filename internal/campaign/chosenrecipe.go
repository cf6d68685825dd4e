package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// A chosenRecipe is a recipe of the batch, with the figures that led to its choice.
type chosenRecipe struct {
	recipe
	kind        ReasonKind
	gain        float64 // expected gain for the batch, in units of utility
	distance    float64 // distance to the nearest recipe tried, pending or chosen before
	trialID     string  // for a replicate: the id of the trial
	beats       float64
	improvement float64
	scored      bool
	front       *tradeOffOptimizer // the optimizer that chose it for a trade-off; else nil
}

// fitsBatch reports whether the stock, the limit on new ingredients and the conditions that are
// alike leave room for a recipe in the batch.
func (ch *batchOptimizer) fitsBatch(x recipe) bool {
	for _, p := range x.parts {
		if left, ok := ch.stock[p.Ingredient]; ok && p.Amount > left {
			return false
		}
	}
	return ch.keepsAlike(x) && (ch.s.MaxNew < 0 || ch.countNewIngredients(x.parts) <= ch.s.MaxNew)
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
		ch.excludedRecipes[b.recipe.key()] = true
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
	delete(ch.excludedRecipes, b.recipe.key())
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

// chooseFromPool fills the batch from a pool, one recipe at a time, after it chose the values of
// the conditions that are alike.
func (ch *batchOptimizer) chooseFromPool(p *pool) {
	ch.chooseValues(p.recipes, p.scores, func(set [][]int32) float64 {
		d, q := ch.clone(), *p
		d.chosenValues = set
		q.incumbent = slices.Clone(p.incumbent)
		return d.fillFromPool(&q)
	})
	ch.fillFromPool(p)
}

// fillFromPool fills the batch from a pool, one recipe at a time. It returns the sum of what each
// recipe gains beside those before it.
func (ch *batchOptimizer) fillFromPool(p *pool) (gained float64) {
	want := ch.s.Size - len(ch.batch)
	learn := 0
	if ch.hasWeakModel() && want >= learnShare {
		learn = want / learnShare
	}
	minDistance, radius := ch.minDistance(), ch.diversityRadius()
	used := make([]bool, len(p.recipes))
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
			return gained
		}
		used[at] = true
		b := chosenRecipe{recipe: p.recipes[at], kind: kind, gain: ch.expectedGain(p, at), distance: ch.nearestDistance(p.recipes[at]), scored: true}
		b.beats, b.improvement = ch.improvementStats(p, at)
		gained += b.gain
		ch.addRecipe(b)
		for s := range p.incumbent {
			p.incumbent[s] = max(p.incumbent[s], p.utility[s][at])
		}
	}
	return gained
}

// pickCandidate returns the candidate with the greatest gain, or for Learn with the greatest
// standard deviation of utility. It must be at least apart from the others and fit the batch.
// Among equal gains it prefers the one that shares the fewest ingredients with the batch. −1
// means none.
func (ch *batchOptimizer) pickCandidate(p *pool, used []bool, kind ReasonKind, apart float64) int {
	value := make([]float64, len(p.recipes))
	best := math.Inf(-1)
	for k, x := range p.recipes {
		value[k] = math.Inf(-1)
		if used[k] || p.successProbability[k] < leastSuccess || ch.distanceToBatch(x) < apart || !ch.fitsBatch(x) {
			continue
		}
		if kind == Learn {
			value[k] = p.utilitySD(k) / ch.costDivisor(x.parts)
		} else if value[k] = ch.expectedGain(p, k); value[k] == 0 {
			value[k] = float64(1e-300 * portable.Exp(max(p.scores[k], -50))) // no gain is expected: rank by score
		}
		best = max(best, value[k])
	}
	if math.IsInf(best, -1) {
		return -1
	}
	at, least := -1, math.Inf(1)
	for k, x := range p.recipes {
		if value[k] >= best*(1-gainTolerance) && !math.IsInf(value[k], -1) {
			if shared := ch.meanSharedIngredients(x.parts); at < 0 || shared < least {
				at, least = k, shared
			}
		}
	}
	return at
}
