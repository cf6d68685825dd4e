package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
	"kir/mcmc"
)

// minDistance returns the least distance between two recipes of a batch. The distance is smaller if
// the models predict better.
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

// diversityRadius returns the distance that every second recipe of a batch keeps from the recipes
// chosen before. The radius shrinks as the number of trials grows.
func (ch *batchOptimizer) diversityRadius() float64 {
	return max(largestMinDistance*math.Sqrt(shrinkAfterTrials/float64(max(len(ch.campaign.trials), shrinkAfterTrials))), ch.minDistance())
}

// nearestDistance returns the distance between a recipe and the nearest recipe that was tried, is
// pending or is in the batch.
func (ch *batchOptimizer) nearestDistance(x recipe) float64 {
	near := ch.distanceToBatch(x)
	for _, t := range ch.campaign.trials {
		near = min(near, ch.recipeDistance(t.recipe, x))
	}
	return near
}

// distanceToBatch returns the distance between a recipe and the nearest recipe that is pending or
// in the batch. The distance is at most 1.
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

// meanSharedIngredients returns the mean number of ingredients that a recipe shares with each
// recipe of the batch.
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
// conditions. The choice is arbitrary: half the distance between two recipes without a common
// ingredient.
const maxConditionDistance = 0.5

// recipeDistance returns the distance between two recipes, at most 1. It is the square root of the
// sum of two squares: the squared distance of the amounts (see [search.Distance]), and the squared
// distance of the conditions.
func (ch *batchOptimizer) recipeDistance(x, y recipe) float64 {
	d := ch.distance.Between(x.parts, y.parts)
	if len(x.conditionCodes)+len(y.conditionCodes) == 0 {
		return d
	}
	beside := float64(maxConditionDistance * ch.campaign.conditionDistance(x, y))
	return min(1, math.Sqrt(float64(d*d)+float64(beside*beside)))
}
