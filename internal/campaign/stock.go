package campaign

import (
	"slices"

	"kir/mcmc"
)

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
