package diagnose

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
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
	// leastVisits is how many times an event must have come about.
	leastVisits = 3
)

// widening returns by what a standard error that was estimated with so many
// degrees of freedom is to be multiplied, so that twice the product is what a
// t law puts there instead of a normal one: t_ν⁻¹(Φ(2))/2.
func widening(freedom float64) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: freedom}
	return t.Quantile(beyond(spread)) / spread
}

// beyond is Φ(z).
func beyond(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// enough returns why an effective sample size is too small for an error to be
// stated, or nil.
func enough(ess float64, chains int) error {
	if least := float64(leastEffective * chains); ess < least {
		return fmt.Errorf("%w: %.3g, at least %.0f are needed", ErrFewEffective, ess, least)
	}
	return nil
}

// statedOfShare returns the stated error of a share of draws that are worth
// ess independent ones,
//
//	w·√(q(1−q) / ESS),  q = (ESS·p + 1) / (ESS + 2),
//
// with the widening w. As if one more draw had been a hit and one a miss: a
// share of which few are known is off to the side of ½ more often than its own
// variance says. (Two of each would make it Agresti and Coull's, The American
// Statistician 52, 1998, who also move the estimate.)
func statedOfShare(p, ess, freedom float64) float64 {
	q := (ess*p + 1) / (ess + 2)
	return widening(freedom) * math.Sqrt(q*(1-q)/ess)
}

// statedOfQuantile returns the stated error of the quantile at p: half the
// distance from it to the further of the draws at the shares a and b of the
// sorted draws, where a and b are the points that lie two standard errors, each
// widened, out in Beta(ESS·p + 1, ESS·(1−p) + 1). For smooth laws and many draws
// that is [MCSEQuantile]. Looking as far out as the error is to hold, and to
// either side by itself, is right also for laws in steps, where the quantile
// leaps, and for tails.
//
// It is unknown where the nearer of the points would lie outside of what was
// drawn: where fewer effective draws than that lie beyond the quantile.
func (s *sample) statedOfQuantile(p, ess, freedom float64) (float64, error) {
	s.rank()
	total := float64(len(s.flat))
	a, b := ess*p+1, ess*(1-p)+1
	z := spread * widening(freedom)
	low, high := mathext.InvRegIncBeta(a, b, beyond(-z)), mathext.InvRegIncBeta(a, b, beyond(z))
	if few := ess * math.Min(p, 1-p); few < leastVisits {
		return math.NaN(), fmt.Errorf("%w: %.2g beyond the quantile, at least %d are needed", ErrFewEffective, few, leastVisits)
	}
	q := s.quantile(p)
	below := s.ranking.at(max(int(low*total), 1) - 1)
	above := s.ranking.at(min(int(math.Ceil(high*total)), len(s.flat)) - 1)
	return math.Max(q-below, above-q) / spread, nil
}

// statedQuantile is statedOfQuantile with the effective sample size of the share
// of draws that are at most the quantile or, if all are, of those below it.
func (s *sample) statedQuantile(p float64) (float64, error) {
	ess, err := s.essQuantile(p)
	if errors.Is(err, ErrConstantTail) {
		q := s.quantile(p)
		ess, err = s.essWhere(func(x float64) bool { return x < q })
	}
	if err != nil {
		return math.NaN(), err
	}
	freedom := s.geyer.freedom
	if err := enough(ess, s.chains); err != nil {
		return math.NaN(), err
	}
	return s.statedOfQuantile(p, ess, freedom)
}
