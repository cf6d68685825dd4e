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
	s.deviates = grow(s.deviates, len(s.flat))
	for i, x := range s.flat {
		s.deviates[i] = 0
		if hit(x) {
			s.deviates[i] = 1
		}
	}
	return s.ess(s.deviates)
}
