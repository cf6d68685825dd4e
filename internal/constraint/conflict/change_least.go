package conflict

import "kir/internal/constraint"

// firstTrue returns the least number in 1..most for which can is true, by bisection. can must be monotonic and true
// for most.
func firstTrue(most int, can func(int) bool) int {
	lo, hi := 0, most // can(lo) is false
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; can(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// leastRelaxation returns the fewest notches by which relaxation q must loosen rule k until some composition keeps
// the rules of s. It returns 0 if no number helps. The result may be too large if not everything can be counted or
// enumerated.
func (x *explainer) leastRelaxation(s question, k int, q constraint.Relaxation) int {
	relaxed := func(notches int) question { return s.withRule(k, q.Relax(notches)) }
	if x.ask(relaxed(q.Limit), true) != satisfiable {
		return 0
	}
	c, err := s.conditions()
	if err != nil {
		x.err = err
		return 0
	}
	if _, all := c.Countable(); all {
		return firstTrue(q.Limit, func(n int) bool { return x.ask(relaxed(n), false) == satisfiable })
	}
	// It is proven that fewer than n notches do not suffice. From n on, larger and larger numbers are tried until one
	// is proven to suffice.
	n := firstTrue(q.Limit, func(n int) bool { return x.ask(relaxed(n), false) != unsatisfiable })
	for more := 0; n+more < q.Limit && !x.isOverBudget(); more = max(4*more, 1+(q.Limit-n)/512) {
		if x.ask(relaxed(n+more), true) == satisfiable {
			return n + more
		}
	}
	if x.isOverBudget() {
		return 0
	}
	return q.Limit
}
