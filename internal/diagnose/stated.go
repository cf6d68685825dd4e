package diagnose

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"kir/internal/portable"
)

// A stated error is one that a reader may take at its word: the truth lies
// within two of them in 95 of 100 runs, or the error is said to be unknown. The
// Monte Carlo standard errors (MCSE) of the literature are that only where
// there are many effective draws; what follows is added where there are few.

const (
	// spread is how many stated errors on either side of an estimate are to hold
	// the truth, with the probability that a normal law has there.
	spread = 2
	// leastEffective is how many effective draws there must be for each chain: 5
	// for each half of one (Gelman et al., Bayesian Data Analysis, 3rd edition,
	// 2013, section 11.5).
	leastEffective = 10
	// leastVisits is how many times an event must have come about, and how many
	// effective draws must lie beyond a quantile.
	leastVisits = 3
	// maxStatedErrors is how many stated errors on either side hold the truth where a stated
	// error of 0 says that it is known: all but one in a million.
	maxStatedErrors = 5
	// manyHits is how many effective hits tell how they depend on each other.
	manyHits = 20
)

// widening returns by what a standard error that was estimated with so many
// degrees of freedom is to be multiplied, so that twice the product is what a
// t law puts there instead of a normal one: t_ν⁻¹(Φ(2))/2.
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

// normalCDF is Φ(z).
func normalCDF(z float64) float64 { return float64(0.5 * portable.Erfc(-z/math.Sqrt2)) }

// CheckESS returns why an effective sample size is too small for an error to be
// stated, or nil: it takes 10 for each chain. Of chains where some statistic has
// fewer, no error should be stated at all, since they may not yet have come to
// where others would change.
func CheckESS(ess float64, chains int) error {
	if least := float64(leastEffective * chains); ess < least {
		return fmt.Errorf("%w: %.3g, at least %.0f are needed", ErrFewEffective, ess, least)
	}
	return nil
}

// statedOfQuantile returns the stated error of the quantile at p: half the
// distance from it to the further of the draws at the shares a and b of the
// sorted draws, where a and b are the points that lie two standard errors, each
// widened, out in Beta(ESS·p + 1, ESS·(1−p) + 1). For smooth laws and many draws
// that is mcseQuantile. Looking as far out as the error is to hold, and to
// either side by itself, is right also for laws in steps, where the quantile
// leaps, and for tails.
//
// Where all draws between these points are the same, a quantile next to a step may still
// be another one, in up to one of 50 runs, and an error of 0 would deny it. So it is the
// distance to the next other draw, over how many errors away that is, and 0 only where
// that is more than 5 on either side.
//
// It is unknown where the nearer of the points would lie outside of what was
// drawn: where fewer effective draws than that lie beyond the quantile.
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

// statedAtStep returns the stated error of a quantile that many draws are equal to. away
// is how many errors beside the quantile the point at a share of the sorted draws lies.
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

// statedQuantile is statedOfQuantile where the effective sample size of the
// quantile is known, or why it is not: if that is because all draws are at most the
// quantile, the draws below it tell it.
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
