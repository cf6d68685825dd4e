package diagnose

import (
	"math"

	"kir/internal/portable"
)

// An autocovarianceSource computes autocovariances of one or more series. The method autocovariance returns the
// autocovariance at a lag, averaged over all series, with the number of draws in a series as divisor. Callers ask
// for lags in increasing order, and for each lag at most once.
type autocovarianceSource interface {
	autocovariance(lag int) float64
}

// geyerESS computes effective sample sizes from autocovariances by Geyer's initial monotone positive sequence.
type geyerESS struct {
	autocorrelations []float64 // item t is the autocorrelation ρ_t at lag t, from the latest call of ess

	// degreesOfFreedom is the degrees of freedom of the variance from which the latest effective sample size was
	// computed. If S draws are given, the sum of autocorrelations up to lag W has the relative variance 2(2W+1)/S
	// (Sokal, Monte Carlo methods in statistical mechanics, 1997, section 3). A χ² variable with S/(2W+1) degrees
	// of freedom has the same relative variance.
	degreesOfFreedom float64
}

// ess returns the effective sample size of the mean of m series of n draws each,
//
//	ESS = mn / τ,  τ = −1 + 2 Σ_{t=0}^{T−1} ρ_t + ρ_T,
//	ρ_t = 1 − (W − c_t) / V,  V = c_0 + B,
//
// where c_t is the autocovariance at lag t (mean over the series), W = c_0 n/(n−1) is the variance within the
// series, and B is the variance of the means of the series. T is the lag at which Geyer's initial positive
// sequence ends. The sequence consists of the sums of neighbours P_k = ρ_2k + ρ_2k+1. The sums are taken while
// they are positive, and each sum is at most as large as the sum before (initial monotone sequence). ρ_T is the
// first half of the pair that ended the sequence if that half is positive, and 0 otherwise. τ is at least
// 1/log₁₀(mn), since estimates of a very small τ are unstable (Vehtari et al. 2021, section 3.2).
//
// The order of the steps is that of the R package posterior, with two exceptions. A first pair that is not
// positive gives the bound mn·log₁₀(mn), as in ArviZ. Such a pair occurs if the draws alternate; there the sum
// of posterior counts ρ_0 twice and gives mn/2. And no sums are taken for fewer than six draws in a series,
// where both packages end before the first pair.
func (g *geyerESS) ess(n int, series []moments, c autocovarianceSource) (float64, error) {
	m := len(series)
	var within float64
	same := true
	for _, s := range series {
		within += s.squaredDeviations / float64(n)
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

	even, odd := 1.0, 1-(meanVar-c.autocovariance(1))/varPlus
	g.autocorrelations = append(g.autocorrelations[:0], even, odd)
	t := 0
	for t < n-5 && even+odd > 0 {
		t += 2
		even = 1 - (meanVar-c.autocovariance(t))/varPlus
		odd = 1 - (meanVar-c.autocovariance(t+1))/varPlus
		if even+odd >= 0 {
			g.autocorrelations = append(g.autocorrelations, even, odd)
		} else {
			g.autocorrelations = append(g.autocorrelations, 0, 0)
		}
	}
	end := t
	if even > 0 {
		g.autocorrelations[end] = even
	}
	for t := 2; t <= end-2; t += 2 {
		if before := g.autocorrelations[t-2] + g.autocorrelations[t-1]; g.autocorrelations[t]+g.autocorrelations[t+1] > before {
			g.autocorrelations[t] = float64(before / 2)
			g.autocorrelations[t+1] = float64(before / 2)
		}
	}
	var sum float64
	for _, r := range g.autocorrelations[:end] {
		sum += r
	}
	total := float64(m * n)
	g.degreesOfFreedom = total / float64(2*end+1)
	tau := math.Max(-1+float64(2*sum)+g.autocorrelations[end], 1/portable.Log10(total))
	return total / tau, nil
}
