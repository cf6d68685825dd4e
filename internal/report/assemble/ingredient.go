package assemble

import (
	"math"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/run"
)

// inclusionOf adds to each ingredient the error of its amount and its use in the known recipes.
func inclusionOf(p *compile.Problem, r *run.Result, g *gathered) ([]run.Inclusion, error) {
	var shares, amounts []float64
	if p.Book != nil {
		var err error
		if shares, amounts, err = useOfKnownRecipes(p); err != nil {
			return nil, err
		}
	}
	errors := make(map[int]float64, len(g.slots))
	for slot, se := range g.amountErrors() {
		errors[g.slots[slot]] = se
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

// useOfKnownRecipes returns, by ingredient, the share of the known recipes that use it and the mean units in
// these, with recipes scaled to the problem's total.
func useOfKnownRecipes(p *compile.Problem) (shares, amounts []float64, err error) {
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

// amountErrors returns the standard error of each slot's mean amount over the draws that use it. It
// is NaN if fewer than three batches use it. It is also NaN if all batches have the same mean, as
// when all draws have the same amount. Then the draws do not show whether other amounts are
// impossible or were only missed, and the range of those is unknown too.
func (g *gathered) amountErrors() []float64 {
	errors := make([]float64, len(g.slots))
	for slot := range errors {
		used, amount, with := int64(0), int64(0), 0
		for _, b := range g.batches {
			used += b.used[slot]
			amount += b.amounts[slot]
			if b.used[slot] > 0 {
				with++
			}
		}
		errors[slot] = math.NaN()
		if with >= leastBatches {
			errors[slot] = jackknife(len(g.batches), func(k int) float64 {
				b := g.batches[k]
				return float64(amount-b.amounts[slot]) / float64(used-b.used[slot])
			})
		}
		if errors[slot] == 0 {
			errors[slot] = math.NaN()
		}
	}
	return errors
}
