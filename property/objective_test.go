package property_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kir/mcmc"
	"kir/property"
)

// toward is what an objective scores, by its formula.
func toward(v, worst, best, shape, floor float64) float64 {
	if worst == best {
		return 1
	}
	return max(floor, math.Pow(max((v-worst)/(best-worst), 0), shape))
}

// TestObjectives walks a mean, a formula and the sides of a portfolio from ends of the scale
// that they reach, do not reach, and pass.
func TestObjectives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 31))
	attribute := []float64{3, -1.5, 0.25, 7, 2, 2, -4}
	returns, covariance := factorModel(r, 7, 3)
	const total = 30
	mean := must(property.NewBlend(attribute, total, property.Exponential(1)))
	market := must(property.NewMarkowitz(returns, covariance, 1, total))
	formula := must(property.NewExpression(`mean("cost") - 20 * share("Gin") - 5`, bar{}, total))
	weighted := func(a []float64, x []int) (sum float64) {
		for i := range x {
			sum += a[i] * float64(x[i]) / total
		}
		return sum
	}
	risk := func(x []int) (sum float64) {
		for i := range x {
			for j := range x {
				sum += covariance[i][j] * float64(x[i]*x[j]) / total / total
			}
		}
		return sum
	}
	cost := must(bar{}.Numbers("cost"))
	for _, c := range []struct {
		of    int
		value func(x []int) float64
		as    func(d *property.Desirability) mcmc.LineProperty
	}{
		{7, func(x []int) float64 { return weighted(attribute, x) }, func(d *property.Desirability) mcmc.LineProperty { return mean.WithDesirability(d) }},
		{5, func(x []int) float64 { return weighted(cost, x) - 20*float64(x[0])/total - 5 }, func(d *property.Desirability) mcmc.LineProperty { return formula.WithDesirability(d) }},
		{7, func(x []int) float64 { return weighted(returns, x) }, func(d *property.Desirability) mcmc.LineProperty { return market.NewPortfolio(property.Return, d) }},
		{7, func(x []int) float64 { return math.Sqrt(risk(x)) }, func(d *property.Desirability) mcmc.LineProperty { return market.NewPortfolio(property.Volatility, d) }},
		{7, func(x []int) float64 { return weighted(returns, x) / math.Sqrt(risk(x)) }, func(d *property.Desirability) mcmc.LineProperty {
			return market.NewPortfolio(property.ReturnToVolatility, d)
		}},
	} {
		lo, hi := math.Inf(1), math.Inf(-1)
		for range 300 {
			x := randomComposition(t, r, c.of, total, 1+r.IntN(c.of))
			amounts := make([]int, c.of)
			for i := range amounts {
				amounts[i] = x.Amount(i)
			}
			lo, hi = min(lo, c.value(amounts)), max(hi, c.value(amounts))
		}
		// The ends of single ingredients lie beyond most of these, and within half of them.
		half := (hi - lo) / 4
		for _, ends := range [][2]float64{{lo - half, hi + half}, {hi + half, lo - half}, {lo + half, hi - half}, {hi - half, lo + half}, {lo, lo}} {
			for _, shape := range []float64{1, 2.5} {
				d := must(must(property.UncappedRamp(ends[0], ends[1], shape)).Floor(0.001))
				walkLines(t, c.as(d), c.of, total, 40, func(x []int) float64 { return toward(c.value(x), ends[0], ends[1], shape, 0.001) }, 1e-6)
			}
		}
		slope := 3 / (hi - lo)
		walkLines(t, c.as(property.Exponential(slope)), c.of, total, 40, func(x []int) float64 { return math.Exp(slope * c.value(x)) }, 1e-9)
		walkLines(t, c.as(property.Exponential(-slope)), c.of, total, 40, func(x []int) float64 { return math.Exp(-slope * c.value(x)) }, 1e-9)
	}
	few := must(property.NewBlend(attribute[:4], 4, property.Exponential(1)))
	checkKernels(t, few.WithDesirability(must(must(property.UncappedRamp(7, -1.5, 1)).Floor(0.001))), 4, 4, 40)
	small := must(property.NewMarkowitz(returns[:3], [][]float64{covariance[0][:3], covariance[1][:3], covariance[2][:3]}, 1, 4))
	for side, ends := range map[property.PortfolioStatistic][2]float64{property.Return: {-0.2, 0.2}, property.Volatility: {0.6, 0.05}, property.ReturnToVolatility: {-2, 2}} {
		checkKernels(t, small.NewPortfolio(side, must(must(property.UncappedRamp(ends[0], ends[1], 1)).Floor(0.001))), 3, 4, 40)
	}
}

// TestBadObjectives has scales that are none.
func TestBadObjectives(t *testing.T) {
	for _, c := range [][3]float64{{math.NaN(), 1, 1}, {0, math.Inf(1), 1}, {0, 1, 0}, {0, 1, math.NaN()}, {-math.MaxFloat64, math.MaxFloat64, 1}} {
		if _, err := property.UncappedRamp(c[0], c[1], c[2]); err == nil {
			t.Errorf("from %v to %v with the shape %v is taken", c[0], c[1], c[2])
		}
	}
}
