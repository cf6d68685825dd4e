package rule

// firstTrue returns the least of 1..most for which can is true, which it is for
// most and all after the first.
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

// least returns the fewest notches by which knob q of rule k has to be turned
// for a set to have compositions, 0 if turning it does not help. Where not all
// can be counted or looked at it may return more.
func (x *explainer) least(s Set, k int, q knob) int {
	turned := func(notches int) Set { return s.with(k, q.turn(notches)) }
	if n, ok := x.leastByLooking(s, k, q); ok {
		return n
	}
	if x.ask(turned(q.limit), true) != some {
		return 0
	}
	c, err := s.Conditions()
	if err != nil {
		x.err = err
		return 0
	}
	if _, all := c.Countable(); all {
		return firstTrue(q.limit, func(n int) bool { return x.ask(turned(n), false) == some })
	}
	// Fewer are proven not to do; of more, some that were found to.
	n := firstTrue(q.limit, func(n int) bool { return x.ask(turned(n), false) != never })
	for more := 0; n+more < q.limit && !x.spent(); more = max(4*more, 1+(q.limit-n)/512) {
		if x.ask(turned(n+more), true) == some {
			return n + more
		}
	}
	if x.spent() {
		return 0
	}
	return q.limit
}

// leastByLooking is least where there are few enough compositions to look at:
// those that keep the loosest rule and all others are taken one after the other,
// and the knob turned back as far as each allows.
func (x *explainer) leastByLooking(s Set, k int, q knob) (notches int, ok bool) {
	c, err := s.Conditions()
	if err != nil {
		x.err = err
		return 0, true
	}
	if _, all := c.Countable(); all || len(s.overrides) > 0 {
		return 0, false
	}
	loosest, err := s.with(k, q.turn(q.limit)).Conditions()
	if err != nil {
		x.err = err
		return 0, true
	}
	sizes := s.sizes()
	if len(sizes) == 0 {
		return 0, true
	}
	e := newEnumeration(loosest, sizes)
	if e.candidates() > x.most {
		return 0, false
	}
	if x.ask(s.with(k, q.turn(q.limit)), false) == never {
		return 0, true
	}
	keeps := func(notches int, parts []Part) bool {
		c, err := s.only(nil).with(k, q.turn(notches)).Conditions()
		if err != nil {
			x.err = err
			return false
		}
		return c.Keeps(parts)
	}
	best := 0
	var better *Conditions // of the knob turned less than is known to do
	ok = e.each(func(parts []Part) bool {
		if !loosest.Keeps(parts) || better != nil && !better.Keeps(parts) {
			return true
		}
		most := q.limit
		if best > 0 {
			most = best - 1
		}
		best = firstTrue(most, func(n int) bool { return keeps(n, parts) })
		if best == 1 || x.err != nil {
			return false
		}
		better, x.err = s.only(nil).with(k, q.turn(best-1)).Conditions()
		return x.err == nil
	})
	return best, ok || best == 1 || x.err != nil
}
