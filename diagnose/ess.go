package diagnose

import (
	"fmt"
	"math"
)

// ESSBulk returns the bulk effective sample size: the number of independent
// draws that would estimate the centre of the distribution as well as these
// draws do. It is the effective sample size of the rank-normalised split chains
// (Vehtari et al. 2021).
//
// It needs 12 draws in a chain. posterior gives numbers from 6 draws on and
// ArviZ from 4 on; for fewer than 12 these come from the limits of the two
// programs rather than from the draws (half the number of draws in the one,
// S·log₁₀ S in the other). Errors: ErrNoDraws, ErrRagged, ErrNotFinite,
// ErrFewDraws, ErrConstant (posterior: NA; ArviZ: the number of draws).
func ESSBulk(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).essBulk)
}

// ESSTail returns the tail effective sample size: the smaller of the effective
// sample sizes of the 5 % and the 95 % quantile (Vehtari et al. 2021; see
// [ESSQuantile]).
//
// A statistic with few values may have one of them in more than 5 % of the draws
// at its upper end. Then all draws are at most the 95 % quantile, and its
// effective sample size is not defined: the error is ErrConstantTail, as
// posterior gives NA. ArviZ takes the number of draws for it.
// [Summary] has both quantiles by themselves.
func ESSTail(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).essTail)
}

// ESSMean returns the effective sample size of the mean: S independent draws
// would have the variance sd²/S of their mean, these have sd²/ESS. It is computed
// on the split chains as they are, without ranks. Errors as for [ESSBulk], and
// ErrScale.
func ESSMean(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).essMean)
}

// ESSQuantile returns the effective sample size of the quantile at p: that of
// the mean of the 0/1 series "the draw is at most the quantile". At p = 1 the
// quantile is replaced by the one at (S−½)/S, as in posterior. Errors as for
// [ESSBulk], and ErrConstantTail and ErrProbability.
func ESSQuantile(chains [][]float64, p float64) (float64, error) {
	return figure(chains, func(s *sample) (float64, error) { return s.essQuantile(p) })
}

// IACT returns the integrated autocorrelation time of the draws,
//
//	τ = 1 + 2 Σ_{t≥1} ρ_t = S / ESSMean,
//
// where S is the number of draws in the split chains: how many consecutive draws
// are worth one independent one. It is 1 for independent draws and less when
// neighbouring draws oppose each other. ρ_t is the autocorrelation at lag t
// estimated from all chains together; the sum ends where Geyer's initial
// monotone positive sequence does. Errors as for [ESSMean].
func IACT(chains [][]float64) (float64, error) {
	return figure(chains, func(s *sample) (float64, error) {
		ess, err := s.essMean()
		return float64(2*s.half*s.chains) / ess, err
	})
}

// figure computes one figure of the chains.
func figure(chains [][]float64, f func(*sample) (float64, error)) (float64, error) {
	var s sample
	if err := s.load(chains); err != nil {
		return math.NaN(), err
	}
	return f(&s)
}

func (s *sample) essBulk() (float64, error) {
	if err := s.ready(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	return s.ess(s.normalScores())
}

func (s *sample) essTail() (float64, error) {
	low, err := s.essQuantile(0.05)
	if err != nil {
		return math.NaN(), err
	}
	high, err := s.essQuantile(0.95)
	if err != nil {
		return math.NaN(), err
	}
	return math.Min(low, high), nil
}

func (s *sample) essMean() (float64, error) {
	if err := s.ready(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	return s.ess(s.flat)
}

// ess returns the effective sample size of the mean of x, which is laid out as
// flat.
func (s *sample) ess(x []float64) (float64, error) {
	halves := s.split(x)
	s.moments = momentsOfAll(s.moments, halves)
	s.dense.reset(halves, s.moments)
	return s.geyer.ess(s.half, s.moments, &s.dense)
}

func (s *sample) essQuantile(p float64) (float64, error) {
	if err := checkProbability(p); err != nil {
		return math.NaN(), err
	}
	if err := s.ready(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	if p == 1 {
		n := float64(len(s.flat))
		p = (n - 0.5) / n
	}
	q := s.quantile(p)
	if q >= s.max {
		return math.NaN(), fmt.Errorf("%w: the one at %v is the largest value, %v", ErrConstantTail, p, q)
	}
	return s.essWhere(func(x float64) bool { return x <= q })
}

// essWhere returns the effective sample size of the share of draws that are hits.
func (s *sample) essWhere(hit func(x float64) bool) (float64, error) {
	s.binary.reset(2*s.chains, s.half)
	for h, half := range s.split(s.flat) {
		bits := s.binary.bits(h)
		for i, x := range half {
			if hit(x) {
				bits[i/64] |= 1 << (i % 64)
			}
		}
	}
	return s.essBinary()
}

// essBinary returns the effective sample size of the 0/1 series in s.binary.
func (s *sample) essBinary() (float64, error) {
	s.moments = s.binary.prepare(s.moments)
	return s.geyer.ess(s.binary.draws, s.moments, &s.binary)
}

// momentsOfAll returns the moments of each series in the memory of m.
func momentsOfAll(m []moments, series [][]float64) []moments {
	m = m[:0]
	for _, x := range series {
		m = append(m, momentsOf(x))
	}
	return m
}

// covariance gives the autocovariance at a lag, with divisor n, as the mean over
// all series. Lags are asked for in ascending order, each at most once.
type covariance interface {
	at(lag int) float64
}

// geyer computes effective sample sizes from autocovariances.
type geyer struct {
	rho []float64

	// freedom is how many degrees of freedom the variance behind the latest
	// effective sample size has. The sum of autocorrelations up to lag W of S
	// draws has the relative variance 2(2W+1)/S (Sokal, Monte Carlo methods in
	// statistical mechanics, 1997, section 3), which is that of a χ² variable
	// with S/(2W+1) degrees of freedom.
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
			g.rho[t] = before / 2
			g.rho[t+1] = before / 2
		}
	}
	var sum float64
	for _, r := range g.rho[:end] {
		sum += r
	}
	total := float64(m * n)
	g.freedom = total / float64(2*end+1)
	tau := math.Max(-1+2*sum+g.rho[end], 1/math.Log10(total))
	return total / tau, nil
}

// varianceOfMeans returns the variance of the series' means, with divisor one
// less than their number.
func varianceOfMeans(series []moments) float64 {
	if len(series) < 2 {
		return 0
	}
	var m moments
	for _, s := range series {
		m = m.merge(moments{n: 1, mean: s.mean})
	}
	return m.squares / float64(m.n-1)
}
