package conflict

import "kir/internal/constraint"

// firstTrue returns the least number from 1 to maximum for which can is true, by bisection. The function can
// must be monotonic, and can(maximum) must be true.
func firstTrue(maximum int, can func(int) bool) int {
	lo, hi := 0, maximum // can(lo) is false
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; can(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// leastRelaxation returns the least number of notches (see [constraint.Relaxation]) by which the relaxation q
// must loosen the rule with index k until some composition keeps the rules of s. The result is 0 if no number
// helps or the work budget is spent. The result may be too large if not all rules can be counted and the
// compositions are too many to enumerate.
func (x *explainer) leastRelaxation(s question, k int, q constraint.Relaxation) int {
	relaxed := func(notches int) question { return s.withRule(k, q.Relax(notches)) }
	if x.ask(relaxed(q.MaxNotches), true) != satisfiable {
		return 0
	}
	c, err := s.conditions()
	if err != nil {
		x.err = err
		return 0
	}
	if _, all := c.CountableSpace(); all {
		return firstTrue(q.MaxNotches, func(n int) bool { return x.ask(relaxed(n), false) == satisfiable })
	}
	// Fewer than n notches are proven not to suffice. From n on, the loop tries larger and larger numbers until
	// a number is proven to suffice.
	n := firstTrue(q.MaxNotches, func(n int) bool { return x.ask(relaxed(n), false) != unsatisfiable })
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
