package mcmc

import (
	"math"
	"slices"

	"kir/internal/constraint"
)

// Line writes the feasible splits of the line. It checks the two ends one by one. Between them both
// ingredients are used, so rules on which ingredients are used hold for all splits or for none.
// Rules on groups' totals and limits leave an interval of splits. An ingredient's own amounts leave
// an interval and, with a step, a lattice in it.
func (s *ruleScorer) Line(i, j int, p *Pieces) {
	sum := int(s.amounts[i] + s.amounts[j])
	first := s.at(i, j, 0)
	p.Add(0, first)
	if sum == 0 {
		return
	}
	last := s.at(i, j, sum)
	previous := first
	add := func(start int, score float64) {
		if score != previous {
			p.Add(start, score)
			previous = score
		}
	}
	if sum > 1 {
		from, to := s.between(i, j, sum)
		if from > 1 || from >= to {
			add(1, negInf)
		}
		if ruleI, ruleJ := &s.r.Amounts[i], &s.r.Amounts[j]; from < to && ruleI.Step <= 1 && ruleJ.Step <= 1 && len(s.bent) == 0 {
			add(from, 0)
		} else {
			for k := from; k < to; k++ {
				add(k, ruleLogScore(ruleI.Allows(k, s.x.total) && ruleJ.Allows(sum-k, s.x.total) && s.bentKept(k, sum)))
			}
		}
		if from < to && to < sum {
			add(to, negInf)
		}
	}
	add(sum, last)
}

// between returns the splits from ≤ k < to that use both ingredients and keep every rule but steps.
// There are none if from ≥ to.
func (s *ruleScorer) between(i, j, sum int) (from, to int) {
	a, b := s.amounts[i], s.amounts[j]
	s.set(i, 0)
	s.set(j, 0)
	// Rules that do not concern i and j must hold already.
	others := s.badAmounts == 0
	s.set(i, 1)
	s.set(j, 1)
	s.touched = append(append(s.touched[:0], s.r.GroupsOf[i]...), s.r.GroupsOf[j]...)
	slices.Sort(s.touched)
	s.touched = slices.Compact(s.touched)
	bad := s.badGroups
	for _, g := range s.touched {
		if s.groupBroken(g) {
			bad--
		}
	}
	others = others && bad == 0 && s.missing == 0 && s.badNeeds == 0
	from, to = 1, sum
	narrow := func(first, last int64) { // restricts k to first..last
		from = int(max(int64(from), first))
		to = int(min(int64(to), last+1))
	}
	for _, g := range s.touched {
		if s.groupUsedBroken(g) {
			others = false
		}
		t := s.r.Groups[g].Total
		if t == nil {
			continue
		}
		inI, inJ := slices.Contains(s.r.GroupsOf[i], g), slices.Contains(s.r.GroupsOf[j], g)
		rest := s.groupTotal[g]
		switch {
		case inI && inJ:
			if all := rest - 2 + int64(sum); all < int64(t.Min) || all > int64(t.Max) {
				others = false
			}
		case inI:
			rest--
			narrow(int64(t.Min)-rest, int64(t.Max)-rest)
		default:
			rest--
			narrow(int64(sum)-(int64(t.Max)-rest), int64(sum)-(int64(t.Min)-rest))
		}
	}
	if first, last := s.betweenSums(i, j, int64(sum)); first > last {
		others = false
	} else {
		narrow(first, last)
	}
	s.set(i, a)
	s.set(j, b)
	minI, maxI := s.amountBounds(i)
	minJ, maxJ := s.amountBounds(j)
	narrow(minI, maxI)
	narrow(int64(sum)-maxJ, int64(sum)-minJ)
	if !others {
		return 1, 1
	}
	return from, to
}

// A bentSum is a sum whose change along the splits is not linear.
type bentSum struct {
	rest     int64 // the sum over all ingredients but i and j
	i, j     constraint.Term
	min, max int64
}

// at returns the sum at one split.
func (b *bentSum) at(k, sum int) int64 { return b.rest + b.i.At(k) + b.j.At(sum-k) }

// bentKept reports whether the sums with steps hold at a split.
func (s *ruleScorer) bentKept(k, sum int) bool {
	for n := range s.bent {
		if v := s.bent[n].at(k, sum); v < s.bent[n].min || v > s.bent[n].max {
			return false
		}
	}
	return true
}

// betweenSums returns the first and the last split from 1 to sum−1 that keep the sums, none if
// first > last. It expects one unit of both ingredients. Sums with a step do not hold at all splits
// between; they are stored in s.bent.
func (s *ruleScorer) betweenSums(i, j int, sum int64) (first, last int64) {
	first, last = 1, sum-1
	bad := s.badSums
	s.bent = s.bent[:0]
	a, b := s.r.termsOf(i), s.r.termsOf(j)
	for len(a) > 0 || len(b) > 0 {
		var ti, tj sumTerm
		var k int32
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].sum < b[0].sum:
			ti, a, k = a[0], a[1:], a[0].sum
		case len(a) == 0 || b[0].sum < a[0].sum:
			tj, b, k = b[0], b[1:], b[0].sum
		default:
			ti, a, k = a[0], a[1:], a[0].sum
			tj, b = b[0], b[1:]
		}
		if s.sumBroken(k) {
			bad--
		}
		lo, hi := s.r.Sums[k].Min, s.r.Sums[k].Max
		if ti.bent != nil || tj.bent != nil {
			from, to := s.betweenBent(k, ti, tj, sum)
			first, last = max(first, from), min(last, to)
			continue
		}
		rest := s.sums[k] - ti.perUnit - tj.perUnit + tj.perUnit*sum // the linear part of the sum, extended to k = 0
		from, to := solveLinear(rest, ti.perUnit-tj.perUnit, lo, hi)
		first, last = max(first, from), min(last, to)
	}
	if bad > 0 {
		return 1, 0
	}
	return first, last
}

// solveLinear returns the first and the last whole k with lo ≤ rest + slope·k ≤ hi.
func solveLinear(rest, slope, lo, hi int64) (first, last int64) {
	switch {
	case slope > 0:
		return divideUp(subtract(lo, rest), slope), divideDown(subtract(hi, rest), slope)
	case slope < 0:
		return divideUp(subtract(rest, hi), -slope), divideDown(subtract(rest, lo), -slope)
	case rest < lo || rest > hi:
		return math.MaxInt64, math.MinInt64
	}
	return math.MinInt64, math.MaxInt64
}

// betweenBent is betweenSums for one sum with a bent term. The sum is linear between the caps and
// concave with them, so the feasible splits of each piece are an interval.
func (s *ruleScorer) betweenBent(k int32, ti, tj sumTerm, sum int64) (first, last int64) {
	b := bentSum{i: ti.term(), j: tj.term(), min: s.r.Sums[k].Min, max: s.r.Sums[k].Max}
	b.rest = s.sums[k] - b.i.At(1) - b.j.At(1)
	if b.i.Step > 1 || b.j.Step > 1 {
		s.bent = append(s.bent, b)
		return 1, sum - 1
	}
	ends := [4]int64{1, sum - 1, sum - 1, sum - 1}
	if b.i.Cap > 0 {
		ends[1] = min(max(int64(b.i.Cap), 1), sum-1)
	}
	if b.j.Cap > 0 {
		ends[2] = min(max(sum-int64(b.j.Cap), 1), sum-1)
	}
	slices.Sort(ends[:])
	first, last = math.MaxInt64, math.MinInt64
	for n := range 3 {
		from, to := ends[n], ends[n+1]
		at := b.at(int(from), int(sum))
		slope := int64(0)
		if from < to {
			slope = b.at(int(from+1), int(sum)) - at
		}
		lo, hi := solveLinear(at-slope*from, slope, b.min, b.max)
		if lo, hi = max(lo, from), min(hi, to); lo <= hi {
			first, last = min(first, lo), max(last, hi)
		}
	}
	return first, last
}

// term returns the full term.
func (t *sumTerm) term() constraint.Term {
	if t.bent != nil {
		return *t.bent
	}
	return constraint.Term{PerUnit: t.perUnit, PerUse: t.whole}
}

// scoreSteps writes the scores of x + t·d for the steps t from..to; step from is piece 0. Between
// the ends all ingredients that d changes are used. So rules on which ingredients are used hold for
// all steps or for none, and amounts and sums leave an interval, as on a line.
func (s *ruleScorer) scoreSteps(d *step, from, to int, p *Pieces) {
	var were [mostTogether]int32
	for k, i := range d.ingredients[:d.count] {
		were[k] = s.amounts[i]
	}
	at := func(t int) float64 {
		for k, i := range d.ingredients[:d.count] {
			s.set(int(i), were[k]+int32(t)*int32(d.d[k]))
		}
		return s.LogScore()
	}
	previous := at(from)
	p.Add(0, previous)
	add := func(t int, score float64) {
		if score != previous {
			p.Add(t-from, score)
			previous = score
		}
	}
	if to-from > 1 {
		at(from + 1)
		first, last, whole := s.feasibleSteps(d, from, to)
		if first > from+1 || first > last {
			add(from+1, negInf)
		}
		if whole && first <= last {
			add(first, at(first))
		} else {
			for t := first; t <= last; t++ {
				add(t, at(t))
			}
		}
		if first <= last && last+1 < to {
			add(last+1, negInf)
		}
	}
	add(to, at(to))
	for k, i := range d.ingredients[:d.count] {
		s.set(int(i), were[k])
	}
}

// feasibleSteps returns the first and the last of the steps from+1..to−1 that keep the rules linear
// in the step. whole reports whether every step between these keeps the same rules. The amounts are
// those at from+1.
func (s *ruleScorer) feasibleSteps(d *step, from, to int) (first, last int, whole bool) {
	lo, hi := int64(from+1), int64(to-1)
	whole = true
	narrow := func(rest, slope, least, most int64) { // rest is at from+1
		a, b := solveLinear(rest, slope, least, most)
		if a > b {
			lo, hi = 1, 0
			return
		}
		lo, hi = max(lo, a+int64(from+1)), min(hi, b+int64(from+1))
	}
	s.touched = s.touched[:0]
	if s.slopes == nil {
		s.slopes = make([]int64, len(s.sums))
	}
	for k, i := range d.ingredients[:d.count] {
		if d.d[k] == 0 {
			continue
		}
		least, most := s.amountBounds(int(i))
		narrow(int64(s.amounts[i]), d.d[k], least, most)
		whole = whole && s.r.Amounts[i].Step <= 1 && len(s.r.GroupsOf[i]) == 0
		for _, t := range s.r.termsOf(int(i)) {
			whole = whole && t.bent == nil
			s.slopes[t.sum] += t.perUnit * d.d[k]
			s.touched = append(s.touched, t.sum)
		}
	}
	for _, k := range s.touched {
		if slope := s.slopes[k]; slope != 0 && whole {
			narrow(s.sums[k], slope, s.r.Sums[k].Min, s.r.Sums[k].Max)
		}
		s.slopes[k] = 0
	}
	return int(lo), int(hi), whole
}
