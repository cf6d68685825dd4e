package campaign

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/browsersched"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// fillDrawCount is the number of random recipes that [batchOptimizer.fillSpace] draws and chooses
// from.
const fillDrawCount = 2000

// fillSpace adds recipes to the batch that are far from all other recipes. It draws many random
// recipes and repeatedly chooses the recipe with the greatest distance to the nearest recipe that
// was tried, is pending or is in the batch. This greedy choice is within a factor of two of the
// optimum (Gonzalez 1985).
func (ch *batchOptimizer) fillSpace(ctx context.Context) error {
	if len(ch.batch) >= ch.settings.BatchSize {
		return nil
	}
	var all []recipe
	if ch.allowedRecipes != nil {
		for _, x := range ch.allowedRecipes {
			if ch.isOfferable(x) {
				all = append(all, x)
			}
		}
	} else {
		var err error
		if all, err = ch.randomRecipes(ctx, fillDrawCount, ch.newRand(fillStreamName, 0)); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(x recipe) bool {
			y, err := ch.computedDesirability(x)
			return err != nil || y == 0
		})
	}
	near := make([]float64, len(all))
	for k, x := range all {
		near[k] = ch.nearestDistance(x)
	}
	if len(ch.conditionValueLimits) > 0 {
		ch.moveAllConditionsToBatch(all, near)
	}
	first := len(ch.campaign.trials)+len(ch.pending)+len(ch.batch) == 0
	for len(ch.batch) < ch.settings.BatchSize {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		at := -1
		for k, x := range all {
			if near[k] > 0 && (at < 0 || near[k] > near[at]) && ch.fitsBatch(x) {
				at = k
			}
			if first && at >= 0 {
				break // the very first recipe may be any draw
			}
		}
		if at < 0 {
			return nil
		}
		b := chosenRecipe{recipe: all[at], reasonKind: Fill, nearestDistance: near[at]}
		if first {
			b.nearestDistance = math.NaN()
		}
		first = false
		ch.addRecipe(b)
		chosen := all[at]
		for k, x := range all {
			near[k] = min(near[k], ch.recipeDistance(chosen, x))
		}
		if len(ch.conditionValueLimits) > 0 {
			ch.moveAllConditionsToBatch(all, near)
		}
	}
	return nil
}

// moveAllConditionsToBatch calls [batchOptimizer.moveConditionsToBatch] for each recipe whose
// conditions no longer fit the batch. It updates nearestDistances, where item k is the distance
// from recipe k to the nearest known recipe. A recipe that still does not fit gets the distance 0.
func (ch *batchOptimizer) moveAllConditionsToBatch(recipes []recipe, nearestDistances []float64) {
	for k, x := range recipes {
		if nearestDistances[k] == 0 || ch.fitsConditionValueLimits(x) {
			continue
		}
		y, ok := ch.moveConditionsToBatch(x)
		if nearestDistances[k] = 0; ok {
			recipes[k], nearestDistances[k] = y, ch.nearestDistance(y)
		}
	}
}

// maxVisitsToComplete is the maximum number of recipes that [batchOptimizer.completeBatch] visits.
const maxVisitsToComplete = 200_000

// completeBatch fills the batch when hardly any recipe is left. It starts from recipes that satisfy
// the rules and visits their neighbours, then the neighbours of the neighbours and so on. The
// search ends when the batch is full, when all reachable recipes were visited, or after the maximum
// number of visits.
func (ch *batchOptimizer) completeBatch(ctx context.Context) error {
	if len(ch.batch) >= ch.settings.BatchSize || ch.allowedRecipes != nil {
		return nil
	}
	var queue []recipe
	seen := make(map[string]bool)
	push := func(x recipe) {
		if key := x.key(); !seen[key] {
			seen[key] = true
			queue = append(queue, x)
		}
	}
	for _, t := range ch.campaign.trials {
		push(ch.campaign.offeredRecipe(t.parts, t.offeredValues))
	}
	for _, e := range ch.pending {
		push(ch.campaign.offeredRecipe(e.parts, e.offeredValues))
	}
	for _, b := range ch.batch {
		push(b.recipe)
	}
	known := len(queue)
	drawn, err := ch.randomRecipes(ctx, 200, ch.newRand(fillStreamName, 2))
	if err != nil {
		return err
	}
	for _, x := range drawn {
		push(x)
	}
	for at := 0; at < len(queue) && len(ch.batch) < ch.settings.BatchSize && len(seen) < cmp.Or(ch.maxVisits, maxVisitsToComplete); at++ {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x := queue[at]
		if ok := ch.isFeasible(x); at >= known && !ok {
			continue
		} else if ok && ch.isOfferable(x) && ch.fitsBatch(x) && !slices.ContainsFunc(ch.batch, func(b chosenRecipe) bool { return compareRecipes(b.recipe, x) == 0 }) {
			ch.addRecipe(chosenRecipe{recipe: x, reasonKind: Fill, nearestDistance: ch.nearestDistance(x)})
		}
		ch.visitNeighbours(x, push)
	}
	return nil
}

// visitNeighbours calls visit for each neighbour of recipe x. A neighbour is a recipe that divides
// the joint amount of two ingredients in another way, or that has another value of one condition.
func (ch *batchOptimizer) visitNeighbours(x recipe, visit func(recipe)) {
	for k := range ch.campaign.Problem.Conditions {
		for v := range ch.campaign.Problem.Conditions[k].Len() {
			if offered := slices.Clone(x.offeredValues); offered[k] != int32(v) {
				offered[k] = int32(v)
				visit(ch.campaign.offeredRecipe(x.parts, offered))
			}
		}
	}
	n := len(ch.campaign.Problem.Ingredients)
	amount := make(map[int]int, len(x.parts))
	for _, p := range x.parts {
		amount[p.Ingredient] = p.Amount
	}
	for _, p := range x.parts {
		for j := range n {
			if j == p.Ingredient || amount[j] > 0 && j < p.Ingredient {
				continue
			}
			s := p.Amount + amount[j]
			step := max(1, s/32) // skip some splits on fine lattices
			for k := 0; k <= s; k += step {
				if k == p.Amount {
					continue
				}
				var y []mcmc.Part
				for _, q := range x.parts {
					if q.Ingredient != p.Ingredient && q.Ingredient != j {
						y = append(y, q)
					}
				}
				if k > 0 {
					y = append(y, mcmc.Part{Ingredient: p.Ingredient, Amount: k})
				}
				if k < s {
					y = append(y, mcmc.Part{Ingredient: j, Amount: s - k})
				}
				visit(x.withParts(sortParts(y)))
			}
		}
	}
}

// ingredientCosts returns the cost of each ingredient, by index of the ingredient. The costs are
// the values of the named attribute of the ingredients. Every cost must be known and at least 0.
func (c *Campaign) ingredientCosts(attribute string) ([]float64, error) {
	in := c.Problem.Attributes()
	if in != nil {
		if a, ok := in.Attribute(attribute); ok {
			numbers, err := a.Numbers()
			if err != nil {
				return nil, err
			}
			for i, v := range numbers {
				if !(v >= 0) {
					return nil, &inputerr.Error{File: in.File, Message: fmt.Sprintf("the %s of %s is not known", attribute, inputerr.Quote(in.Names[i])), Hint: "fill in the cell"}
				}
			}
			return numbers, nil
		}
	}
	return nil, &inputerr.Error{Message: "the ingredients have no attribute " + inputerr.Quote(attribute) + " for the cost of a trial", Hint: "add a column to the file of ingredients"}
}
