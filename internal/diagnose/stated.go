package diagnose

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"kir/internal/portable"
)

// A stated error is an error that a reader can rely on: in 95 of 100 runs the truth lies within two stated
// errors of the estimate, or the error is reported as unknown. Monte Carlo standard errors (MCSE) of the
// literature have this property only with many effective draws. The functions below widen the MCSE if there are
// few effective draws.

const (
	// coveredErrorCount is the number of stated errors on either side of an estimate for which coverage is exact: the
	// truth lies within that distance as often as a normal distribution implies.
	coveredErrorCount = 2
	// minEffectivePerChain is the minimum effective sample size per chain for a stated error: 5 for each half of
	// a chain (Gelman et al., Bayesian Data Analysis, 3rd edition, 2013, section 11.5).
	minEffectivePerChain = 10
	// minVisits is the minimum number of separate periods in which an event occurs for which an error of the
	// event's probability is stated. minVisits is also the minimum number of effective draws beyond a quantile.
	minVisits = 3
	// maxStatedErrors is the number of stated errors on either side within which the truth lies in all but one
	// of a million runs. A quantile counts as known, with a stated error of 0, if no other value lies within
	// this distance.
	maxStatedErrors = 5
	// enoughEffectiveHits is the number of effective hits from which the dependence between hits can be estimated.
	enoughEffectiveHits = 20
)

// wideningFactor returns the factor by which a standard error must be widened that was estimated with few degrees
// of freedom, ν. The factor is t_ν⁻¹(Φ(2))/2. With this factor, two widened errors cover as much under a t
// distribution as two standard errors cover under a normal distribution.
func wideningFactor(degreesOfFreedom float64) float64 {
	return float64(portable.StudentQuantile(degreesOfFreedom, normalCDF(coveredErrorCount)) / coveredErrorCount)
}

// statedErrorOfMean returns the stated error of the mean of draws whose effective sample size is ess. The effective
// sample size has ν_ESS degrees of freedom. The stated error is
//
//	w_ν·√((1 + γ²/ess)·variance/ess),  1/ν = 1/ν_ESS + (κ−1) / (2·ess),
//
// with the factor w_ν of wideningFactor, the skewness γ and the kurtosis κ. The variance of ess independent
// numbers has the relative variance (κ−1)/ess, and a χ² variable with ν degrees of freedom has 2/ν. The term with
// the skewness is needed because the variance is too small as often as the mean lies off to the side without the
// tail. For numbers that are 0 or 1, and hardly ever 1, the term counts one more 1. Both corrections matter for
// statistics that are nearly always the same and seldom far off.
func (s *sample) statedErrorOfMean(mcse, ess, freedom float64) float64 {
	m := momentsOf(s.allDraws)
	sd, third, fourth := math.Sqrt(m.squaredDeviations/float64(m.count)), 0.0, 0.0
	for _, x := range s.allDraws {
		d := (x - m.mean) / sd
		third += float64(d * d * d)
		fourth += float64(d * d * d * d)
	}
	skewness, kurtosis := third/float64(m.count), fourth/float64(m.count)
	freedom = 1 / (1/freedom + (kurtosis-1)/(2*ess))
	return float64(wideningFactor(freedom) * mcse * math.Sqrt(1+skewness*skewness/ess))
}

// normalCDF returns Φ(z), the standard normal distribution function.
func normalCDF(z float64) float64 { return float64(0.5 * portable.Erfc(-z/math.Sqrt2)) }

// CheckESS returns an error if an effective sample size is too small to state a standard error, and nil
// otherwise. CheckESS requires 10 effective draws for each chain. If some statistic of the chains has fewer, no
// standard error should be stated for any statistic: the chains may not yet have reached regions where other
// statistics change.
func CheckESS(ess float64, chains int) error {
	if least := float64(minEffectivePerChain * chains); ess < least {
		return fmt.Errorf("%w: %.3g, at least %.0f are needed", ErrFewEffective, ess, least)
	}
	return nil
}

// statedErrorOfQuantile returns the stated error of the quantile at p. Let a and b be the points of Beta(ESS·p + 1,
// ESS·(1−p) + 1) that lie two widened standard errors out. The error is half the distance from the quantile to
// the further of the draws at the fractions a and b of the sorted draws. For smooth distributions and many draws
// the error equals the result of mcseQuantile. The error looks as far out as the error must cover, and to either
// side separately. So the error also holds for tails and for discrete distributions.
//
// If all draws between a and b are equal, the error is not simply 0: a quantile next to a step differs in up to
// one of 50 runs. The error is then the distance to the next other draw, divided by the number of errors to that
// draw. The error is 0 only if that number is above 5 on both sides.
//
// The error is unknown if too few effective draws lie beyond the quantile, so that the nearer of a and b lies
// beyond the draws.
func (s *sample) statedErrorOfQuantile(p, ess, freedom float64) (float64, error) {
	s.sortDraws()
	total := float64(len(s.allDraws))
	a, b := float64(ess*p)+1, float64(ess*(1-p))+1
	if few := float64(ess * math.Min(p, 1-p)); few < minVisits {
		return math.NaN(), fmt.Errorf("%w: %.2g beyond the quantile, at least %d are needed", ErrFewEffective, few, minVisits)
	}
	q := s.quantile(p)
	z := float64(coveredErrorCount * wideningFactor(freedom))
	low, high := portable.BetaQuantile(a, b, normalCDF(-z)), portable.BetaQuantile(a, b, normalCDF(z))
	below := s.ranking.at(max(int(float64(low*total)), 1) - 1)
	above := s.ranking.at(min(int(math.Ceil(float64(high*total))), len(s.allDraws)) - 1)
	if !IsConstant(below, above) {
		return float64(math.Max(q-below, above-q) / coveredErrorCount), nil
	}
	return s.statedErrorAtStep(q, func(share float64) float64 {
		out := portable.NormalQuantile(portable.BetaCDF(a, b, share))
		return -portable.NormalQuantile(portable.StudentTail(freedom, math.Abs(out)))
	}), nil
}

// statedErrorAtStep returns the stated error of a quantile that many draws equal. The result of away(share) is
// the distance, as a number of errors, from the quantile to the point at the given fraction of the sorted draws.
func (s *sample) statedErrorAtStep(quantile float64, away func(share float64) float64) (stated float64) {
	draws := len(s.allDraws)
	first := sort.Search(draws, func(i int) bool { x := s.ranking.at(i); return x >= quantile || IsConstant(x, quantile) })
	after := sort.Search(draws, func(i int) bool { x := s.ranking.at(i); return x > quantile && !IsConstant(quantile, x) })
	step := func(share, distance float64) {
		if errors := away(share); errors <= maxStatedErrors {
			stated = math.Max(stated, distance/math.Max(errors, coveredErrorCount))
		}
	}
	if first > 0 {
		step(float64(first)/float64(draws), quantile-s.ranking.at(first-1))
	}
	if after < draws {
		step(float64(after)/float64(draws), s.ranking.at(after)-quantile)
	}
	return stated
}

// statedErrorOrReason returns the stated error of the quantile at p, like statedErrorOfQuantile, but the
// effective sample size may be unknown. The parameter essError is then the reason. If the reason is
// ErrConstantTail, statedErrorOrReason uses the effective sample size of the event "the draw is below the
// quantile" instead.
func (s *sample) statedErrorOrReason(p, ess, freedom float64, essError error) (float64, error) {
	if errors.Is(essError, ErrConstantTail) {
		q := s.quantile(p)
		ess, essError = s.essOfEvent(func(x float64) bool { return x < q && !IsConstant(x, q) })
		freedom = s.geyerESS.degreesOfFreedom
	}
	if essError == nil {
		essError = CheckESS(ess, s.chainCount)
	}
	if essError != nil {
		return math.NaN(), essError
	}
	return s.statedErrorOfQuantile(p, ess, freedom)
}
