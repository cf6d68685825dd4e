package diagnose

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"kir/internal/portable"
)

// A stated error is an error that a reader can rely on: in 95 of 100 runs the truth lies within two of them, or the
// error is reported as unknown. Monte Carlo standard errors (MCSE) of the literature have this property only with
// many effective draws. The functions below widen them if there are few.

const (
	// spread is the number of stated errors on either side of an estimate within which the truth lies as often as a
	// normal law implies.
	spread = 2
	// leastEffective is the least effective sample size per chain for a stated error: 5 for each half of a chain
	// (Gelman et al., Bayesian Data Analysis, 3rd edition, 2013, section 11.5).
	leastEffective = 10
	// leastVisits is the least number of separate occurrences of an event for a stated error, and the least number of
	// effective draws beyond a quantile.
	leastVisits = 3
	// maxStatedErrors is the number of stated errors on either side within which the truth lies in all but one of a
	// million runs. A quantile counts as known, with a stated error of 0, if no other value lies that near.
	maxStatedErrors = 5
	// manyHits is the number of effective hits from which the dependence between hits can be estimated.
	manyHits = 20
)

// widening returns the factor on a standard error that was estimated with few degrees of freedom. Twice the widened
// error covers under a t law what two standard errors cover under a normal one: t_ν⁻¹(Φ(2))/2.
func widening(freedom float64) float64 {
	return float64(portable.StudentQuantile(freedom, normalCDF(spread)) / spread)
}

// statedOfMean returns the stated error of the mean of draws worth ess independent
// ones, an effective sample size with ν_ESS degrees of freedom,
//
//	w_ν·√((1 + γ²/ess)·variance/ess),  1/ν = 1/ν_ESS + (κ−1) / (2·ess),
//
// with the skewness γ and the kurtosis κ. The variance of ess independent numbers
// has the relative variance (κ−1)/ess, and a χ² variable 2/ν. The skewness makes
// the variance too small as often as the mean is off to the side without the
// tail; for numbers that are 0 or 1, hardly ever 1, it counts one more 1. Both
// matter to what is nearly always the same, and seldom far off.
func (s *sample) statedOfMean(mcse, ess, freedom float64) float64 {
	m := momentsOf(s.flat)
	sd, third, fourth := math.Sqrt(m.squares/float64(m.n)), 0.0, 0.0
	for _, x := range s.flat {
		d := (x - m.mean) / sd
		third += float64(d * d * d)
		fourth += float64(d * d * d * d)
	}
	skewness, kurtosis := third/float64(m.n), fourth/float64(m.n)
	freedom = 1 / (1/freedom + (kurtosis-1)/(2*ess))
	return float64(widening(freedom) * mcse * math.Sqrt(1+skewness*skewness/ess))
}

// normalCDF returns Φ(z), the standard normal distribution function.
func normalCDF(z float64) float64 { return float64(0.5 * portable.Erfc(-z/math.Sqrt2)) }

// CheckESS returns an error if an effective sample size is too small to state an error, else nil. It requires 10 for
// each chain. If some statistic of the chains has less, no error should be stated at all: the chains may not yet have
// reached regions where other statistics change.
func CheckESS(ess float64, chains int) error {
	if least := float64(leastEffective * chains); ess < least {
		return fmt.Errorf("%w: %.3g, at least %.0f are needed", ErrFewEffective, ess, least)
	}
	return nil
}

// statedOfQuantile returns the stated error of the quantile at p. Let a and b be the points of Beta(ESS·p + 1,
// ESS·(1−p) + 1) that lie two widened standard errors out. The error is half the distance from the quantile to the
// further of the draws at the fractions a and b of the sorted draws. For smooth laws and many draws it equals
// mcseQuantile. Because it looks as far out as the error must cover, and to either side separately, it also holds for
// tails and for discrete laws.
//
// If all draws between a and b are equal, the error is not simply 0: a quantile next to a step differs in up to one
// of 50 runs. The error is then the distance to the next other draw, divided by the number of errors to that draw. It
// is 0 only if that number is above 5 on both sides.
//
// The error is unknown if the nearer of a and b lies beyond the draws, that is, if too few effective draws lie beyond
// the quantile.
func (s *sample) statedOfQuantile(p, ess, freedom float64) (float64, error) {
	s.rank()
	total := float64(len(s.flat))
	a, b := float64(ess*p)+1, float64(ess*(1-p))+1
	if few := float64(ess * math.Min(p, 1-p)); few < leastVisits {
		return math.NaN(), fmt.Errorf("%w: %.2g beyond the quantile, at least %d are needed", ErrFewEffective, few, leastVisits)
	}
	q := s.quantile(p)
	z := float64(spread * widening(freedom))
	low, high := portable.BetaQuantile(a, b, normalCDF(-z)), portable.BetaQuantile(a, b, normalCDF(z))
	below := s.ranking.at(max(int(float64(low*total)), 1) - 1)
	above := s.ranking.at(min(int(math.Ceil(float64(high*total))), len(s.flat)) - 1)
	if !IsConstant(below, above) {
		return float64(math.Max(q-below, above-q) / spread), nil
	}
	return s.statedAtStep(q, func(share float64) float64 {
		out := portable.NormalQuantile(portable.Beta(a, b, share))
		return -portable.NormalQuantile(portable.StudentTail(freedom, math.Abs(out)))
	}), nil
}

// statedAtStep returns the stated error of a quantile q that many draws equal. away returns by how many errors the
// point at a given fraction of the sorted draws lies from the quantile.
func (s *sample) statedAtStep(q float64, away func(share float64) float64) (stated float64) {
	draws := len(s.flat)
	first := sort.Search(draws, func(i int) bool { x := s.ranking.at(i); return x >= q || IsConstant(x, q) })
	after := sort.Search(draws, func(i int) bool { x := s.ranking.at(i); return x > q && !IsConstant(q, x) })
	step := func(share, distance float64) {
		if errors := away(share); errors <= maxStatedErrors {
			stated = math.Max(stated, distance/math.Max(errors, spread))
		}
	}
	if first > 0 {
		step(float64(first)/float64(draws), q-s.ranking.at(first-1))
	}
	if after < draws {
		step(float64(after)/float64(draws), s.ranking.at(after)-q)
	}
	return stated
}

// statedQuantile is statedOfQuantile for a quantile whose effective sample size may be unknown; the error unknown is
// then the reason. If the reason is ErrConstantTail, the effective sample size of "the draw is below the quantile"
// replaces it.
func (s *sample) statedQuantile(p, ess, freedom float64, unknown error) (float64, error) {
	if errors.Is(unknown, ErrConstantTail) {
		q := s.quantile(p)
		ess, unknown = s.essWhere(func(x float64) bool { return x < q && !IsConstant(x, q) })
		freedom = s.geyer.freedom
	}
	if unknown == nil {
		unknown = CheckESS(ess, s.chains)
	}
	if unknown != nil {
		return math.NaN(), unknown
	}
	return s.statedOfQuantile(p, ess, freedom)
}
