package conflict

import "kir/internal/constraint"

// leastTrue returns the least number from 1 to maximum for which the function condition returns true, by
// bisection. If condition returns true for a number, it must also return true for all greater numbers.
// condition(maximum) must be true.
func leastTrue(maximum int, condition func(int) bool) int {
	lo, hi := 0, maximum // can(lo) is false
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; condition(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// leastRelaxation returns the least number of notches (see [constraint.Relaxation]) by which the relaxation q
// must loosen the rule with index k until some composition keeps the rules of s. The result is 0 if no number of
// notches helps or the limit on work is reached. The result may be too large if not all rules can be counted and
// the compositions are too many to enumerate.
func (x *explainer) leastRelaxation(s question, k int, q constraint.Relaxation) int {
	relaxed := func(notches int) question { return s.withRule(k, q.Relax(notches)) }
	if x.ask(relaxed(q.MaxNotches), true) != satisfiable {
		return 0
	}
	c, err := s.conditions()
	if err != nil {
		x.firstError = err
		return 0
	}
	if _, all := c.CountableSpace(); all {
		return leastTrue(q.MaxNotches, func(n int) bool { return x.ask(relaxed(n), false) == satisfiable })
	}
	// Fewer than n notches are proven not to suffice. From n on, the loop tries larger and larger numbers until
	// a number is proven to suffice.
	n := leastTrue(q.MaxNotches, func(n int) bool { return x.ask(relaxed(n), false) != unsatisfiable })
	for more := 0; n+more < q.MaxNotches && !x.isOverBudget(); more = max(4*more, 1+(q.MaxNotches-n)/512) {
		if x.ask(relaxed(n+more), true) == satisfiable {
			return n + more
		}
	}
	if x.isOverBudget() {
		return 0
	}
	return q.MaxNotches
}
