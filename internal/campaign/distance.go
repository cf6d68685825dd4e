package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
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

// nearestDistance returns the distance of a recipe to the nearest recipe tried, pending or
// chosen.
func (ch *batchOptimizer) nearestDistance(x recipe) float64 {
	near := ch.distanceToBatch(x)
	for _, t := range ch.c.trials {
		near = min(near, ch.recipeDistance(t.recipe, x))
	}
	return near
}

// distanceToBatch returns the distance of a recipe to the nearest recipe pending or chosen.
func (ch *batchOptimizer) distanceToBatch(x recipe) float64 {
	near := 1.0
	for _, e := range ch.pending {
		near = min(near, ch.recipeDistance(e.recipe, x))
	}
	for _, b := range ch.batch {
		near = min(near, ch.recipeDistance(b.recipe, x))
	}
	return near
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

// conditionWeight is the greatest distance of two recipes that differ in their conditions alone.
// It is a matter of taste: half of that of two recipes with nothing in common.
const conditionWeight = 0.5

// recipeDistance returns the distance of two recipes, at most 1: the root of the sum of the squares of
// the distance of their amounts (see [search.Distance]) and of that of their conditions.
func (ch *batchOptimizer) recipeDistance(x, y recipe) float64 {
	d := ch.distance.Between(x.parts, y.parts)
	if len(x.codes)+len(y.codes) == 0 {
		return d
	}
	beside := float64(conditionWeight * ch.c.settingDistance(x, y))
	return min(1, math.Sqrt(float64(d*d)+float64(beside*beside)))
}
