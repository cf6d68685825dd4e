package diagnose

import (
	"fmt"
	"math"
)

// A Proportion is an estimated probability with its error.
type Proportion struct {
	// Probability is the fraction of draws in which the event happened.
	Probability float64
	// MCSE is the standard error of Probability, and ESS the number of independent draws with the same standard
	// error. Both are NaN if Err is not nil.
	MCSE, ESS float64
	// Batch is 1 if the error was computed from single draws. Otherwise it is the length of the batches from which it
	// was computed.
	Batch int
	// Err is the reason why MCSE and ESS are unknown, or nil. It is ErrConstant if the event happened in all draws or
	// in none, because draws cannot show the error of an estimate of 0 or 1.
	Err error

	visits  int     // number of periods in which the event, or its opposite if that is rarer, held
	freedom float64 // degrees of freedom of ESS
	chains  int
}

// StatedError returns the error to state of a probability p that draws with the
// effective sample size ESS estimate,
//
//	w·√(q(1−q) / E),  q = (E·p + 1) / (E + 2),  E = min(ESS, slowest·max(1, k/20)),
//
// with the widening w and k = ESS·min(p, 1−p), the number of effective hits or
// misses, whichever are fewer.
//
// Three things make it larger than MCSE where few hits are known. q counts a draw
// more that was a hit and one that was none: p(1−p) is too small as often as p is.
// (Two of each would make it the interval of Agresti and Coull, The American
// Statistician 52, 1998, who also move the estimate.) The degrees of freedom that w
// is of are at most the effective hits. And slowest is the smallest effective
// sample size that anything in these chains is known to have, +Inf if nothing is:
// what was hardly ever met cannot tell how it comes in bursts, and is taken to be as
// slow as that.
//
// The error is that of Err, ErrFewEffective, or ErrFewVisits if the event, or its
// opposite, came about less than three times.
func (p Proportion) StatedError(slowest float64) (float64, error) {
	if p.Err != nil {
		return math.NaN(), p.Err
	}
	if err := CheckESS(min(p.ESS, slowest), p.chains); err != nil {
		return math.NaN(), err
	}
	if p.visits < leastVisits {
		return math.NaN(), fmt.Errorf("%w: %d, at least %d are needed", ErrFewVisits, p.visits, leastVisits)
	}
	hits := float64(p.ESS * min(p.Probability, 1-p.Probability))
	ess := min(p.ESS, slowest*max(1, hits/manyHits))
	q := (float64(ess*p.Probability) + 1) / (ess + 2)
	return float64(widening(min(p.freedom, ess*min(q, 1-q))) * math.Sqrt(q*(1-q)/ess)), nil
}
