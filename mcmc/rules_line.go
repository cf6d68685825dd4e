package mcmc

import (
	"math"
	"slices"

	"kir/internal/constraint"
)

// Line adds to p the log score of each split, that is, each division of the joint amount of i and
// j: 0 if the split keeps all rules, and −Inf otherwise. It checks the two ends one by one.
//
// Between the ends both ingredients are used, so rules on which ingredients are used hold for all
// splits or for none. Rules on totals of groups and limits on amounts leave an interval of splits.
// If the amounts of an ingredient must be multiples of a step, regularly spaced splits of this
// interval remain.
func (s *ruleScorer) Line(i, j int, p *PiecewiseConstant) {
	sum := int(s.amounts[i] + s.amounts[j])
	first := s.splitScore(i, j, 0)
	p.Add(0, first)
	if sum == 0 {
		return
	}
	last := s.splitScore(i, j, sum)
	previous := first
	add := func(start int, score float64) {
		if score != previous {
			p.Add(start, score)
			previous = score
		}
	}
	if sum > 1 {
		from, to := s.innerRange(i, j, sum)
		if from > 1 || from >= to {
			add(1, negInf)
		}
		if ruleI, ruleJ := &s.rules.Amounts[i], &s.rules.Amounts[j]; from < to && ruleI.Step <= 1 && ruleJ.Step <= 1 && len(s.nonlinearSums) == 0 {
			add(from, 0)
		} else {
			for k := from; k < to; k++ {
				add(k, ruleLogScore(ruleI.Allows(k, s.composition.total) && ruleJ.Allows(sum-k, s.composition.total) && s.nonlinearSumsKept(k, sum)))
			}
		}
		if from < to && to < sum {
			add(to, negInf)
		}
	}
	add(sum, last)
}

// innerRange returns the range from ≤ k < to of the splits that keep all rules other than steps of
// amounts. Split k gives k units of the joint amount sum to ingredient i and the rest to j; both
// must get units. The range is empty if from ≥ to.
func (s *ruleScorer) innerRange(i, j, sum int) (from, to int) {
	a, b := s.amounts[i], s.amounts[j]
	s.setAmount(i, 0)
	s.setAmount(j, 0)
	// Rules that do not concern i and j must hold already.
	others := s.badAmountCount == 0
	s.setAmount(i, 1)
	s.setAmount(j, 1)
	s.touchedIndices = append(append(s.touchedIndices[:0], s.rules.GroupsOf[i]...), s.rules.GroupsOf[j]...)
	slices.Sort(s.touchedIndices)
	s.touchedIndices = slices.Compact(s.touchedIndices)
	bad := s.badGroupCount
	for _, g := range s.touchedIndices {
		if s.groupBroken(g) {
			bad--
		}
	}
	others = others && bad == 0 && s.missingRequiredCount == 0 && s.badNeedCount == 0
	from, to = 1, sum
	narrow := func(first, last int64) { // restricts k to first..last
		from = int(max(int64(from), first))
		to = int(min(int64(to), last+1))
	}
	for _, g := range s.touchedIndices {
		if s.groupUsedBroken(g) {
			others = false
		}
		t := s.rules.Groups[g].Total
		if t == nil {
			continue
		}
		inI, inJ := slices.Contains(s.rules.GroupsOf[i], g), slices.Contains(s.rules.GroupsOf[j], g)
		rest := s.groupTotals[g]
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
	if first, last := s.innerRangeOfSums(i, j, int64(sum)); first > last {
		others = false
	} else {
		narrow(first, last)
	}
	s.setAmount(i, a)
	s.setAmount(j, b)
	minI, maxI := s.amountBounds(i)
	minJ, maxJ := s.amountBounds(j)
	narrow(minI, maxI)
	narrow(int64(sum)-maxJ, int64(sum)-minJ)
	if !others {
		return 1, 1
	}
	return from, to
}

// A nonlinearSum is a sum over the amounts of the ingredients that a rule bounds. It is a function
// of k, the number of units that ingredient i gets of the joint amount of i and j. The function is
// not linear.
type nonlinearSum struct {
	restSum int64           // the sum over all ingredients except i and j
	termI   constraint.Term // what the amount of i adds to the sum
	termJ   constraint.Term // what the amount of j adds to the sum
	minSum  int64           // lower bound of the sum, from the rule
	maxSum  int64           // upper bound of the sum, from the rule
}

// sumAt returns the value of the bounded sum if ingredient i gets k units. The argument sum is the
// joint amount of i and j.
func (b *nonlinearSum) sumAt(k, sum int) int64 {
	return b.restSum + b.termI.ValueAt(k) + b.termJ.ValueAt(sum-k)
}

// nonlinearSumsKept reports whether all sums in s.nonlinearSums are within their bounds if the
// first ingredient gets k units. The argument sum is the joint amount of the two ingredients.
func (s *ruleScorer) nonlinearSumsKept(k, sum int) bool {
	for n := range s.nonlinearSums {
		if v := s.nonlinearSums[n].sumAt(k, sum); v < s.nonlinearSums[n].minSum || v > s.nonlinearSums[n].maxSum {
			return false
		}
	}
	return true
}

// innerRangeOfSums returns the first and the last k, from 1 to sum−1, for which the bounded sums
// keep their bounds. Here k is the number of units that ingredient i gets of the joint amount sum
// of i and j. There is no such k if first > last. The current amounts of i and j must be 1.
//
// Some amounts add to a sum only in steps. Such sums may leave their bounds within the range; they
// are stored in s.nonlinearSums.
func (s *ruleScorer) innerRangeOfSums(i, j int, sum int64) (first, last int64) {
	first, last = 1, sum-1
	bad := s.badSumCount
	s.nonlinearSums = s.nonlinearSums[:0]
	a, b := s.rules.termsOf(i), s.rules.termsOf(j)
	for len(a) > 0 || len(b) > 0 {
		var ti, tj sumTerm
		var k int32
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].sumIndex < b[0].sumIndex:
			ti, a, k = a[0], a[1:], a[0].sumIndex
		case len(a) == 0 || b[0].sumIndex < a[0].sumIndex:
			tj, b, k = b[0], b[1:], b[0].sumIndex
		default:
			ti, a, k = a[0], a[1:], a[0].sumIndex
			tj, b = b[0], b[1:]
		}
		if s.sumBroken(k) {
			bad--
		}
		lo, hi := s.rules.Sums[k].Min, s.rules.Sums[k].Max
		if ti.nonlinearTerm != nil || tj.nonlinearTerm != nil {
			from, to := s.innerRangeOfNonlinearSum(k, ti, tj, sum)
			first, last = max(first, from), min(last, to)
			continue
		}
		rest := s.sumValues[k] - ti.perUnit - tj.perUnit + tj.perUnit*sum // the linear part of the sum, extended to k = 0
		from, to := solveLinearBounds(rest, ti.perUnit-tj.perUnit, lo, hi)
		first, last = max(first, from), min(last, to)
	}
	if bad > 0 {
		return 1, 0
	}
	return first, last
}

// solveLinearBounds returns the first and the last integer k with lo ≤ rest + slope·k ≤ hi. There
// is no such k if first > last.
func solveLinearBounds(rest, slope, lo, hi int64) (first, last int64) {
	switch {
	case slope > 0:
		return ceilDiv(subtractClamped(lo, rest), slope), floorDiv(subtractClamped(hi, rest), slope)
	case slope < 0:
		return ceilDiv(subtractClamped(rest, hi), -slope), floorDiv(subtractClamped(rest, lo), -slope)
	case rest < lo || rest > hi:
		return math.MaxInt64, math.MinInt64
	}
	return math.MinInt64, math.MaxInt64
}

// innerRangeOfNonlinearSum is innerRangeOfSums for the sum with index k. The terms ti and tj say
// what the ingredients i and j add to this sum, and at least one term is not linear in the amount.
// The sum is linear between the caps of the two terms and concave at a cap, so the allowed range is
// an interval.
func (s *ruleScorer) innerRangeOfNonlinearSum(k int32, ti, tj sumTerm, sum int64) (first, last int64) {
	b := nonlinearSum{termI: ti.fullTerm(), termJ: tj.fullTerm(), minSum: s.rules.Sums[k].Min, maxSum: s.rules.Sums[k].Max}
	b.restSum = s.sumValues[k] - b.termI.ValueAt(1) - b.termJ.ValueAt(1)
	if b.termI.Step > 1 || b.termJ.Step > 1 {
		s.nonlinearSums = append(s.nonlinearSums, b)
		return 1, sum - 1
	}
	ends := [4]int64{1, sum - 1, sum - 1, sum - 1}
	if b.termI.Cap > 0 {
		ends[1] = min(max(int64(b.termI.Cap), 1), sum-1)
	}
	if b.termJ.Cap > 0 {
		ends[2] = min(max(sum-int64(b.termJ.Cap), 1), sum-1)
	}
	slices.Sort(ends[:])
	first, last = math.MaxInt64, math.MinInt64
	for n := range 3 {
		from, to := ends[n], ends[n+1]
		at := b.sumAt(int(from), int(sum))
		slope := int64(0)
		if from < to {
			slope = b.sumAt(int(from+1), int(sum)) - at
		}
		lo, hi := solveLinearBounds(at-slope*from, slope, b.minSum, b.maxSum)
		if lo, hi = max(lo, from), min(hi, to); lo <= hi {
			first, last = min(first, lo), max(last, hi)
		}
	}
	return first, last
}

// fullTerm returns what the ingredient adds to the bounded sum, in the form that package constraint
// uses.
func (t *sumTerm) fullTerm() constraint.Term {
	if t.nonlinearTerm != nil {
		return *t.nonlinearTerm
	}
	return constraint.Term{PerUnit: t.perUnit, PerUse: t.perUse}
}

// scoreSteps adds to p the log score of x + t·d for each integer t from from to to: 0 if this
// composition keeps all rules, and −Inf otherwise. The score for t is the value of p at t − from.
//
// Between the ends all ingredients that d changes are used. So rules on which ingredients are used
// hold for all t or for none, and rules on amounts and sums leave an interval.
func (s *ruleScorer) scoreSteps(d *ingredientStep, from, to int, p *PiecewiseConstant) {
	var were [maxStepIngredients]int32
	for k, i := range d.ingredients[:d.size] {
		were[k] = s.amounts[i]
	}
	at := func(t int) float64 {
		for k, i := range d.ingredients[:d.size] {
			s.setAmount(int(i), were[k]+int32(t)*int32(d.changes[k]))
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
	for k, i := range d.ingredients[:d.size] {
		s.setAmount(int(i), were[k])
	}
}

// feasibleSteps returns the first and the last t, from from+1 to to−1, for which x + t·d keeps the
// limits of amounts and the sums that are linear in t. The result whole says whether all t from
// first to last keep the same rules. The current amounts must be those for t = from+1.
func (s *ruleScorer) feasibleSteps(d *ingredientStep, from, to int) (first, last int, whole bool) {
	lo, hi := int64(from+1), int64(to-1)
	whole = true
	narrow := func(rest, slope, least, most int64) { // rest is at from+1
		a, b := solveLinearBounds(rest, slope, least, most)
		if a > b {
			lo, hi = 1, 0
			return
		}
		lo, hi = max(lo, a+int64(from+1)), min(hi, b+int64(from+1))
	}
	s.touchedIndices = s.touchedIndices[:0]
	if s.sumSlopes == nil {
		s.sumSlopes = make([]int64, len(s.sumValues))
	}
	for k, i := range d.ingredients[:d.size] {
		if d.changes[k] == 0 {
			continue
		}
		least, most := s.amountBounds(int(i))
		narrow(int64(s.amounts[i]), d.changes[k], least, most)
		whole = whole && s.rules.Amounts[i].Step <= 1 && len(s.rules.GroupsOf[i]) == 0
		for _, t := range s.rules.termsOf(int(i)) {
			whole = whole && t.nonlinearTerm == nil
			s.sumSlopes[t.sumIndex] += t.perUnit * d.changes[k]
			s.touchedIndices = append(s.touchedIndices, t.sumIndex)
		}
	}
	for _, k := range s.touchedIndices {
		if slope := s.sumSlopes[k]; slope != 0 && whole {
			narrow(s.sumValues[k], slope, s.rules.Sums[k].Min, s.rules.Sums[k].Max)
		}
		s.sumSlopes[k] = 0
	}
	return int(lo), int(hi), whole
}
