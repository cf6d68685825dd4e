package diagnose

import (
	"math"

	"kir/internal/portable"
)

// covariance returns the autocovariance at a lag with divisor n, averaged over all series. Callers ask for lags in
// increasing order, each at most once.
type covariance interface {
	at(lag int) float64
}

// geyer computes effective sample sizes from autocovariances by Geyer's initial monotone positive sequence.
type geyer struct {
	rho []float64

	// freedom is the degrees of freedom of the variance behind the latest effective sample size. The sum of
	// autocorrelations up to lag W of S draws has the relative variance 2(2W+1)/S (Sokal, Monte Carlo methods in
	// statistical mechanics, 1997, section 3). A χ² variable with S/(2W+1) degrees of freedom has the same.
	freedom float64
}

// ess returns the effective sample size of the mean of m series of n draws each,
//
//	ESS = mn / τ,  τ = −1 + 2 Σ_{t=0}^{T−1} ρ_t + ρ_T,
//
//	ρ_t = 1 − (W − c_t) / V,  V = c_0 + B,
//
// where c_t is the autocovariance at lag t (mean over the series), W = c_0 n/(n−1)
// the variance within and B the variance of the series' means. T is where
// Geyer's initial positive sequence ends: the sums of neighbours P_k = ρ_2k +
// ρ_2k+1 are taken while they are positive, and each is at most as large as the
// one before (initial monotone sequence); ρ_T is the first half of the pair that
// ended it, if that is positive. τ is at least 1/log₁₀(mn), since estimates of
// a very small τ are unstable (Vehtari et al. 2021, section 3.2).
//
// The step by step order is that of posterior's, with two exceptions. A first
// pair that is not positive gives the bound mn·log₁₀(mn), as in ArviZ: that
// happens when the draws alternate, where posterior's sum counts ρ_0 twice and
// gives mn/2. And sums are not taken for fewer than six draws in a series, where
// both end before the first pair.
func (g *geyer) ess(n int, series []moments, c covariance) (float64, error) {
	m := len(series)
	var within float64
	same := true
	for _, s := range series {
		within += s.squares / float64(n)
		same = same && s.mean == series[0].mean
	}
	within /= float64(m)
	if within == 0 && same {
		return math.NaN(), ErrConstant
	}
	meanVar := within * float64(n) / float64(n-1)
	varPlus := within + varianceOfMeans(series)
	if varPlus == 0 || math.IsInf(varPlus, 0) || math.IsNaN(varPlus) {
		return math.NaN(), ErrScale
	}

	even, odd := 1.0, 1-(meanVar-c.at(1))/varPlus
	g.rho = append(g.rho[:0], even, odd)
	t := 0
	for t < n-5 && even+odd > 0 {
		t += 2
		even = 1 - (meanVar-c.at(t))/varPlus
		odd = 1 - (meanVar-c.at(t+1))/varPlus
		if even+odd >= 0 {
			g.rho = append(g.rho, even, odd)
		} else {
			g.rho = append(g.rho, 0, 0)
		}
	}
	end := t
	if even > 0 {
		g.rho[end] = even
	}
	for t := 2; t <= end-2; t += 2 {
		if before := g.rho[t-2] + g.rho[t-1]; g.rho[t]+g.rho[t+1] > before {
			g.rho[t] = float64(before / 2)
			g.rho[t+1] = float64(before / 2)
		}
	}
	var sum float64
	for _, r := range g.rho[:end] {
		sum += r
	}
	total := float64(m * n)
	g.freedom = total / float64(2*end+1)
	tau := math.Max(-1+float64(2*sum)+g.rho[end], 1/portable.Log10(total))
	return total / tau, nil
}
