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

// fillDraws is the number of recipes drawn to fill the space from.
const fillDraws = 2000

// fillSpace completes the batch so that it fills the space. From many exact draws it
// repeatedly chooses the recipe farthest from the nearest recipe tried, pending or chosen.
// This greedy choice is within a factor of two of the optimum (Gonzalez 1985).
func (ch *batchOptimizer) fillSpace(ctx context.Context) error {
	if len(ch.batch) >= ch.s.Size {
		return nil
	}
	var all []recipe
	if ch.allowed != nil {
		for _, x := range ch.allowed {
			if ch.isOfferable(x) {
				all = append(all, x)
			}
		}
	} else {
		var err error
		if all, err = ch.randomRecipes(ctx, fillDraws, ch.rand(fillStream, 0)); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(x recipe) bool {
			y, err := ch.fixedDesirability(x)
			return err != nil || y == 0
		})
	}
	near := make([]float64, len(all))
	for k, x := range all {
		near[k] = ch.nearestDistance(x)
	}
	if len(ch.alike) > 0 {
		ch.alignConditions(all, near)
	}
	first := len(ch.c.trials)+len(ch.pending)+len(ch.batch) == 0
	for len(ch.batch) < ch.s.Size {
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
		b := chosenRecipe{recipe: all[at], kind: Fill, distance: near[at]}
		if first {
			b.distance = math.NaN()
		}
		first = false
		ch.addRecipe(b)
		chosen := all[at]
		for k, x := range all {
			near[k] = min(near[k], ch.recipeDistance(chosen, x))
		}
		if len(ch.alike) > 0 {
			ch.alignConditions(all, near)
		}
	}
	return nil
}

// alignConditions gives the recipes that no longer fit the batch the values of its conditions that
// are alike. near has the distances of the recipes to the nearest one; those that remain unfit get 0.
func (ch *batchOptimizer) alignConditions(all []recipe, near []float64) {
	for k, x := range all {
		if near[k] == 0 || ch.keepsAlike(x) {
			continue
		}
		y, ok := ch.alignAlike(x)
		if near[k] = 0; ok {
			all[k], near[k] = y, ch.nearestDistance(y)
		}
	}
}

// mostReached is the number of recipes visited when the other methods did not fill the batch.
const mostReached = 200_000

// completeBatch fills the remaining places of the batch when hardly any recipe is left. It
// searches outward from recipes known to satisfy the rules, changing two ingredients at a
// time, until everything reachable is visited.
func (ch *batchOptimizer) completeBatch(ctx context.Context) error {
	if len(ch.batch) >= ch.s.Size || ch.allowed != nil {
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
	for _, t := range ch.c.trials {
		push(ch.c.offeredRecipe(t.parts, t.offered))
	}
	for _, e := range ch.pending {
		push(ch.c.offeredRecipe(e.parts, e.offered))
	}
	for _, b := range ch.batch {
		push(b.recipe)
	}
	known := len(queue)
	drawn, err := ch.randomRecipes(ctx, 200, ch.rand(fillStream, 2))
	if err != nil {
		return err
	}
	for _, x := range drawn {
		push(x)
	}
	for at := 0; at < len(queue) && len(ch.batch) < ch.s.Size && len(seen) < cmp.Or(ch.visitLimit, mostReached); at++ {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x := queue[at]
		if ok := ch.isFeasible(x); at >= known && !ok {
			continue
		} else if ok && ch.isOfferable(x) && ch.fitsBatch(x) && !slices.ContainsFunc(ch.batch, func(b chosenRecipe) bool { return compareRecipes(b.recipe, x) == 0 }) {
			ch.addRecipe(chosenRecipe{recipe: x, kind: Fill, distance: ch.nearestDistance(x)})
		}
		ch.neighbours(x, push)
	}
	return nil
}

// neighbours calls push for each recipe that differs from x only in how two ingredients split
// their sum, or in one condition.
func (ch *batchOptimizer) neighbours(x recipe, push func(recipe)) {
	for k := range ch.c.Problem.Conditions {
		for v := range ch.c.Problem.Conditions[k].Len() {
			if offered := slices.Clone(x.offered); offered[k] != int32(v) {
				offered[k] = int32(v)
				push(ch.c.offeredRecipe(x.parts, offered))
			}
		}
	}
	n := len(ch.c.Problem.Ingredients)
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
				push(x.withParts(sortParts(y)))
			}
		}
	}
}

// costs returns the numbers of an attribute by ingredient, as costs of a trial. Each must be
// known and at least 0.
func (c *Campaign) costs(name string) ([]float64, error) {
	in := c.Problem.Attributes()
	if in != nil {
		if a, ok := in.Attribute(name); ok {
			numbers, err := a.Numbers()
			if err != nil {
				return nil, err
			}
			for i, v := range numbers {
				if !(v >= 0) {
					return nil, &inputerr.Error{File: in.File, Message: fmt.Sprintf("the %s of %s is not known", name, inputerr.Quote(in.Names[i])), Hint: "fill in the cell"}
				}
			}
			return numbers, nil
		}
	}
	return nil, &inputerr.Error{Message: "the ingredients have no attribute " + inputerr.Quote(name) + " for the cost of a trial", Hint: "add a column to the file of ingredients"}
}
