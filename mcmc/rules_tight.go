package mcmc

import (
	"math"

	"kir/internal/portable"
)

// tightSums holds the sums over amounts whose bounds few random compositions keep. The exchange of
// one ingredient for another breaks most of these bounds, unless other ingredients change too.
type tightSums struct {
	sumFactors [][]float64 // sumFactors[k][i] is what each unit of ingredient i adds to tight sum k
}

// maxTightShare is the limit for [tightSums]: a sum is tight if a smaller share of random
// compositions keeps its bounds.
const maxTightShare = 0.15

// newTightSums returns the tight sums of the rules r, for compositions of n ingredients on average.
// It returns nil if no sum is tight. It also returns nil if a rule fixes a sum, since an exchange
// would break this rule.
//
// It draws no compositions. It treats a sum over a random composition as normal with mean M·f̄ and
// a variance of about 2/(n+1)·M²·Var f.
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
		if !whole && deviation > 0 && below(sum.Max)-below(sum.Min) < maxTightShare {
			s.sumFactors = append(s.sumFactors, f)
		}
	}
	if len(s.sumFactors) == 0 {
		return nil
	}
	return s
}

// maxCompensatedSums is the greatest number of tight sums that [State.compensatedExchange] keeps
// unchanged. It changes one further ingredient for each of these sums.
const maxCompensatedSums = 3

// solveExchange computes how many units of ingredient b (rho) and of each of the others (kappa)
// replace one unit of ingredient a. The total and the tight sums with the given indices stay the
// same: ρ + Σκ = 1, and f_b·ρ + Σ f_c·κ_c = f_a for each of these sums f. The result ok says
// whether there is a solution with ρ > 0.
func (s *tightSums) solveExchange(sumIndices []int, a, b int32, others []int32) (rho float64, kappa [maxCompensatedSums]float64, ok bool) {
	n := len(sumIndices) + 1
	var m [maxCompensatedSums + 1][maxCompensatedSums + 2]float64
	for row := range n {
		f := func(i int32) float64 {
			if row == 0 {
				return 1
			}
			return s.sumFactors[sumIndices[row-1]][i]
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
