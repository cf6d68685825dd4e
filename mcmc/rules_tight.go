package mcmc

import (
	"math"

	"kir/internal/portable"
)

// tightSums are the sums that few compositions keep. An exchange of one ingredient for another
// breaks most of them, unless others make up for it.
type tightSums struct {
	factors [][]float64 // by sum, by ingredient
}

// mostTight is the largest share of random compositions that keep a tight sum.
const mostTight = 0.15

// newTightSums finds the tight sums. It returns nil if there are none, or if there is also an
// equality, which an exchange would break. It draws nothing: it takes a sum over a random
// composition of n ingredients as normal, with mean M·f̄ and a variance of about 2/(n+1)·M²·Var f.
func newTightSums(r *ruleset, n float64) *tightSums {
	if r == nil || r.lattice != nil {
		return nil
	}
	s, c := &tightSums{}, &r.Conditions
	for _, sum := range c.Sums {
		f := make([]float64, len(c.Amounts))
		mean, square, whole := 0.0, 0.0, false
		for _, t := range sum.Terms {
			f[t.Ingredient] = float64(t.PerUnit)
			mean += f[t.Ingredient] / float64(len(f))
			square += f[t.Ingredient] * f[t.Ingredient] / float64(len(f))
			whole = whole || t.PerUse != 0 || t.IsBent()
		}
		deviation := float64(float64(c.Total) * math.Sqrt(2/(n+1)*(square-float64(mean*mean))))
		below := func(bound int64) float64 { // the share of compositions with a sum below bound
			return float64(portable.Erfc((float64(mean*float64(c.Total))-float64(bound))/deviation/math.Sqrt2) / 2)
		}
		if !whole && deviation > 0 && below(sum.Max)-below(sum.Min) < mostTight {
			s.factors = append(s.factors, f)
		}
	}
	if len(s.factors) == 0 {
		return nil
	}
	return s
}

// maxCompensated is the most sums that an exchange keeps unchanged, by changing as many further
// ingredients.
const maxCompensated = 3

// solve finds how many units b (ρ) and each of the others (κ) take for one unit of a, so that the
// total and the sums stay: ρ + Σκ = 1 and f_b·ρ + Σ f_c·κ_c = f_a. It reports whether there is such
// a ρ > 0.
func (s *tightSums) solve(held []int, a, b int32, others []int32) (rho float64, kappa [maxCompensated]float64, ok bool) {
	n := len(held) + 1
	var m [maxCompensated + 1][maxCompensated + 2]float64
	for row := range n {
		f := func(i int32) float64 {
			if row == 0 {
				return 1
			}
			return s.factors[held[row-1]][i]
		}
		m[row][0], m[row][n] = f(b), f(a)
		for k, c := range others {
			m[row][k+1] = f(c)
		}
	}
	for k := range n {
		p := k
		for row := k + 1; row < n; row++ {
			if math.Abs(m[row][k]) > math.Abs(m[p][k]) {
				p = row
			}
		}
		m[k], m[p] = m[p], m[k]
		if m[k][k] == 0 {
			return 0, kappa, false
		}
		for row := range n {
			if row == k {
				continue
			}
			by := m[row][k] / m[k][k]
			for col := k; col <= n; col++ {
				m[row][col] -= float64(by * m[k][col])
			}
		}
	}
	rho = m[0][n] / m[0][0]
	for k := range others {
		kappa[k] = m[k+1][n] / m[k+1][k+1]
	}
	return rho, kappa, rho > 0 && rho <= math.MaxFloat64
}
