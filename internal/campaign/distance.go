package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// minDistance returns the least distance that two recipes of a batch should have. The better the
// models predict, the smaller this distance is.
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
	return max(largestMinDistance*portable.Pow(1-r2, 3), smallestMinDistance)
}

// diversityRadius returns the distance that every second recipe of a batch should keep from the
// recipes chosen before. The more trials there are, the smaller this distance is.
func (ch *batchOptimizer) diversityRadius() float64 {
	return max(largestMinDistance*math.Sqrt(fullRadiusTrials/float64(max(len(ch.campaign.trials), fullRadiusTrials))), ch.minDistance())
}

// nearestDistance returns the distance from a recipe to the nearest recipe that was tried, is
// pending or is in the batch.
func (ch *batchOptimizer) nearestDistance(x recipe) float64 {
	near := ch.distanceToBatch(x)
	for _, t := range ch.campaign.trials {
		near = min(near, ch.recipeDistance(t.recipe, x))
	}
	return near
}

// distanceToBatch returns the distance from a recipe to the nearest recipe that is pending or in
// the batch. The distance is 1 if there is none.
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

// meanSharedIngredients returns the number of ingredients that a recipe has in common with a recipe
// of the batch, averaged over the batch.
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

// maxConditionDistance is the greatest distance between two recipes that differ only in their
// conditions. The value is a choice: half the distance between two recipes without a common
// ingredient.
const maxConditionDistance = 0.5

// recipeDistance returns the distance between two recipes, at most 1. It is √(a² + c²), where a is
// the distance between the amounts (see [search.Distance]) and c is the distance between the
// conditions.
func (ch *batchOptimizer) recipeDistance(x, y recipe) float64 {
	d := ch.amountDistance.Between(x.parts, y.parts)
	if len(x.conditionCodes)+len(y.conditionCodes) == 0 {
		return d
	}
	beside := float64(maxConditionDistance * ch.campaign.conditionDistance(x, y))
	return min(1, math.Sqrt(float64(d*d)+float64(beside*beside)))
}
