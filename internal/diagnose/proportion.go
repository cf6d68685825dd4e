package diagnose

import (
	"fmt"
	"math"
)

// Proportion is an estimated probability.
type Proportion struct {
	// Probability is the share of the draws.
	Probability float64
	// MCSE is its standard error, and ESS the number of independent draws that
	// would have the same. Both are NaN when Err is not nil.
	MCSE, ESS float64
	// Batch is 1 when the error was computed from every draw; otherwise the
	// length of the batches it was computed from.
	Batch int
	// Err says why there is no error. It is ErrConstant when the event happened
	// in all draws or in none: a probability of 0 or 1 that was estimated has
	// no standard error that draws could tell.
	Err error

	visits  int     // how often the event, or its opposite, came about
	freedom float64 // degrees of freedom that ESS was estimated with
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
