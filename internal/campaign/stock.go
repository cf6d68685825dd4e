package campaign

import (
	"slices"

	"kir/mcmc"
)

// setAmountBounds sets minAmounts and unitsInStock. The least amount of an ingredient is the least
// amount of the ingredient in any trial. For an ingredient that is in no trial, it is the least
// amount of any ingredient. The problem may switch off least amounts.
func (ch *batchOptimizer) setAmountBounds() {
	p := ch.campaign.Problem
	ch.minAmounts = make([]int, len(p.Ingredients))
	if len(ch.campaign.trials) > 0 && !p.Search.AnyDoses {
		smallest := p.Total
		for _, t := range ch.campaign.trials {
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
	ch.unitsInStock = ch.remainingStock()
}

// remainingStock returns the units that are left in stock after the pending and chosen recipes are
// made. The map has the index of each ingredient whose stock is limited.
func (ch *batchOptimizer) remainingStock() map[int]int {
	stock := make(map[int]int)
	if ch.ignoreStock {
		return stock
	}
	for k, r := range ch.campaign.Problem.Rules {
		if slices.Contains(ch.droppedRuleIndices, k) {
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

// takeFromStock subtracts the amounts of a recipe from unitsInStock.
func (ch *batchOptimizer) takeFromStock(parts []mcmc.Part) {
	for _, p := range parts {
		if left, ok := ch.unitsInStock[p.Ingredient]; ok {
			ch.unitsInStock[p.Ingredient] = left - p.Amount
		}
	}
}
