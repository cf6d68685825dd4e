package assemble

import (
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/run"
)

// inclusionWithBookUse returns the use of ingredients from a run's result, and adds what the run
// does not compute: the standard errors of mean amounts, and the use in known recipes.
func inclusionWithBookUse(p *compile.Problem, r *run.Result, g *gatheredDraws) ([]run.Inclusion, error) {
	var shares, amounts []float64
	if p.Book != nil {
		var err error
		if shares, amounts, err = knownRecipeUse(p); err != nil {
			return nil, err
		}
	}
	errors := make(map[int]float64, len(g.slotIngredients))
	for slot, se := range g.meanAmountErrors() {
		errors[g.slotIngredients[slot]] = se
	}
	inclusion := slices.Clone(r.Inclusion)
	for k := range inclusion {
		i := &inclusion[k]
		if se, ok := errors[i.Index]; ok {
			i.AmountMCSE = report.Number(se)
		}
		if shares != nil {
			i.BookShare, i.BookAmount = report.Number(shares[i.Index]), report.Number(amounts[i.Index])
		}
	}
	return inclusion, nil
}

// knownRecipeUse describes the use of ingredients in known recipes. Item i of shares is the share
// of the known recipes that use ingredient i. Item i of amounts is the mean number of its units in
// these recipes, after each recipe is scaled to the problem's total.
func knownRecipeUse(p *compile.Problem) (shares, amounts []float64, err error) {
	n := len(p.Ingredients)
	used, sum := make([]float64, n), make([]float64, n)
	for r := range p.Book.Recipes {
		units, err := p.Book.Closure(r, p.Total)
		if err != nil {
			return nil, nil, err
		}
		for k, part := range p.Book.Recipes[r].Parts {
			used[part.Ingredient]++
			sum[part.Ingredient] += float64(units[k])
		}
	}
	shares, amounts = make([]float64, n), make([]float64, n)
	for i := range shares {
		shares[i] = used[i] / float64(len(p.Book.Recipes))
		amounts[i] = sum[i] / used[i] // NaN for an ingredient that the book only names
	}
	return shares, amounts, nil
}

// meanAmountErrors returns standard errors of mean amounts. Item k is that of the k-th most
// frequent ingredient, whose mean amount is taken over the draws that use it.
//
// The error is NaN if fewer than three batches of draws use the ingredient. It is also NaN if all
// batches have the same mean, as when all draws have the same amount. Then the draws do not show
// whether other amounts are impossible or were only missed.
func (g *gatheredDraws) meanAmountErrors() []float64 {
	errors := make([]float64, len(g.slotIngredients))
	for slot := range errors {
		used, amount, with := int64(0), int64(0), 0
		for _, b := range g.batches {
			used += b.drawsUsing[slot]
			amount += b.unitSums[slot]
			if b.drawsUsing[slot] > 0 {
				with++
			}
		}
		errors[slot] = math.NaN()
		if with >= minBatchesWithEvent {
			errors[slot] = jackknifeError(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return float64(amount-b.unitSums[slot]) / float64(used-b.drawsUsing[slot])
			})
		}
		if errors[slot] == 0 {
			errors[slot] = math.NaN()
		}
	}
	return errors
}
