package diagnose

import (
	"fmt"
	"math"
)

// A Proportion is an estimated probability of an event, with its standard error.
type Proportion struct {
	// Probability is the fraction of draws in which the event happened.
	Probability float64
	// MCSE is the standard error of Probability, and ESS is the number of independent draws with the same
	// standard error. Both are NaN if Err is not nil.
	MCSE, ESS float64
	// Batch is the length, in draws, of the batches from which the standard error was computed. A Batch of 1
	// means that the standard error was computed from single draws.
	Batch int
	// Err is the reason why MCSE and ESS are unknown, or nil. Err is ErrConstant if the event happened in all
	// draws or in no draw, because draws cannot show the error of an estimate of 0 or 1.
	Err error

	visitCount       int     // number of separate periods in which the event held, or in which the event did not hold, whichever number is smaller
	degreesOfFreedom float64 // degrees of freedom of ESS
	chainCount       int     // number of chains
}

// StatedError returns the standard error that a report should state for an estimated probability p with the
// effective sample size ESS:
//
//	w·√(q(1−q) / E),  q = (E·p + 1) / (E + 2),  E = min(ESS, slowest·max(1, k/20)).
//
// Here w is the factor of wideningFactor, and k = ESS·min(p, 1−p) is the number of effective hits or of effective
// misses, whichever is smaller. A hit is a draw in which the event happened.
//
// Three things make the stated error larger than MCSE if few hits are known. First, q counts one more draw that
// was a hit and one more draw that was a miss, because p(1−p) is too small as often as p is too small. (Two more
// draws of each kind would give the interval of Agresti and Coull, The American Statistician 52, 1998, who also
// move the estimate.) Second, the degrees of freedom from which w is computed are at most the number of effective
// hits. Third, slowest is the smallest effective sample size of all statistics of the chains, or +Inf if no
// effective sample size is known. Few hits cannot show whether hits come in bursts, so an event with few hits is
// taken to be as slow as the slowest statistic.
//
// StatedError returns the error Err, ErrFewEffective, or ErrFewVisits if the event, or the opposite of the
// event, came about less than three times.
func (p Proportion) StatedError(slowest float64) (float64, error) {
	if p.Err != nil {
		return math.NaN(), p.Err
	}
	if err := CheckESS(min(p.ESS, slowest), p.chainCount); err != nil {
		return math.NaN(), err
	}
	if p.visitCount < minVisits {
		return math.NaN(), fmt.Errorf("%w: %d, at least %d are needed", ErrFewVisits, p.visitCount, minVisits)
	}
	hits := float64(p.ESS * min(p.Probability, 1-p.Probability))
	ess := min(p.ESS, slowest*max(1, hits/enoughEffectiveHits))
	q := (float64(ess*p.Probability) + 1) / (ess + 2)
	return float64(wideningFactor(min(p.degreesOfFreedom, ess*min(q, 1-q))) * math.Sqrt(q*(1-q)/ess)), nil
}
