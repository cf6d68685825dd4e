package kir

import (
	"slices"

	"kir/count"
	"kir/measure"
	"kir/rule"
)

// A Share is the part of the compositions of n ingredients that can be counted
// which keep the other rules too.
type Share struct {
	N        int
	Estimate float64 // 0 where none is known to
	SE       float64 // standard error of the estimate, 0 if it is exact
	Exact    bool    // each was looked at
	Counted  bool    // else the law gave the size no mass that matters, and nothing is known
}

// ruleset is what a space knows of its rules.
type ruleset struct {
	rule.Conditions

	needsOf [][]int32  // by ingredient: the needs that begin with it or that it meets
	meets   [][]int32  // by ingredient: those that it meets
	sumsOf  [][]factor // by ingredient: the sums in which it counts, by number

	table    *count.Table
	sampler  *count.Sampler
	shares   []Share   // of n = 1.. ; nil if all rules are counted
	logCount []float64 // log |X_n| at n, −Inf at 0 and where X_n is empty or not counted

	measured   *measure.Result // nil if nothing had to be
	measuredAt []int           // by n: the index of its Sizes, or −1
}

// newRuleset indexes conditions by ingredient.
func newRuleset(c *rule.Conditions) *ruleset {
	r := &ruleset{Conditions: *c, needsOf: make([][]int32, len(c.Amounts)), meets: make([][]int32, len(c.Amounts)), sumsOf: factorsOf(c)}
	index := func(of [][]int32, need int, members ...int) {
		for _, i := range members {
			if !slices.Contains(of[i], int32(need)) {
				of[i] = append(of[i], int32(need))
			}
		}
	}
	for k, need := range r.Needs {
		index(r.needsOf, k, need.If)
		index(r.needsOf, k, need.Then...)
		index(r.meets, k, need.Then...)
	}
	return r
}

// possible says whether X_n is not empty, as far as is known.
func (r *ruleset) possible(n int) bool { return n < len(r.logCount) && r.logCount[n] > negInf }

// counted says whether it is known if X_n is empty.
func (r *ruleset) counted(n int) bool { return r.shares == nil || r.shares[n-1].Counted }

// rulesName is what the rules are called where properties have names.
const rulesName = "rules"

// LogScore returns 0 where the rules are kept and −Inf elsewhere.
func (r *ruleset) LogScore(x *Composition) float64 { return logOf(r.Keeps(x.Parts())) }

// Scorer returns a scorer of x.
func (r *ruleset) Scorer(x *Composition) Scorer { return r.scorer(x) }

func (r *ruleset) scorer(x *Composition) *ruleScorer {
	return &ruleScorer{
		r: r, x: x,
		amounts:    make([]int32, x.N()),
		groupUsed:  make([]int32, len(r.Groups)),
		groupTotal: make([]int64, len(r.Groups)),
		met:        make([]int32, len(r.Needs)),
		sums:       make([]int64, len(r.Sums)),
		touched:    make([]int32, 0, 8),
	}
}

// ruleScorer keeps count of which rules a composition breaks, amount by amount.
type ruleScorer struct {
	r       *ruleset
	x       *Composition
	amounts []int32 // as last told
	used    []int32 // the ingredients with an amount, in no order, some maybe without

	missing    int     // required ingredients that are not used
	badAmounts int     // ingredients with an amount that they may not take
	groupUsed  []int32 // by group: members used, and their units
	groupTotal []int64
	badGroups  int
	met        []int32 // by need: how many of Then are used
	badNeeds   int
	sums       []int64 // by sum: Σ f_i·x_i
	badSums    int
	touched    []int32
}

// Reset counts everything anew.
func (s *ruleScorer) Reset() {
	for _, i := range s.used {
		s.amounts[i] = 0
	}
	clear(s.groupUsed)
	clear(s.groupTotal)
	clear(s.met)
	clear(s.sums)
	s.used = s.used[:0]
	s.missing, s.badAmounts, s.badGroups, s.badNeeds = s.r.Required, 0, 0, 0
	for g := range s.r.Groups {
		if s.groupBroken(int32(g)) {
			s.badGroups++
		}
	}
	s.badSums = 0
	for k := range s.r.Sums {
		s.badSums += broke(false, s.sumBroken(int32(k)))
	}
	for _, i := range s.x.Ingredients() {
		s.set(int(i), s.x.amounts[i])
		s.used = append(s.used, i)
	}
}

// set changes one amount and what follows from it.
func (s *ruleScorer) set(i int, amount int32) {
	s.addToSums(i, int64(amount-s.amounts[i]))
	s.setButSums(i, amount)
}

// setButSums is set, and the sums stay what they were.
func (s *ruleScorer) setButSums(i int, amount int32) {
	was := s.amounts[i]
	if was == amount {
		return
	}
	change := int32(0)
	switch {
	case was == 0:
		change = 1
	case amount == 0:
		change = -1
	}
	if change != 0 {
		s.badNeeds -= s.brokenNeeds(i)
	}
	s.amounts[i] = amount
	rule := &s.r.Amounts[i]
	total := s.x.total
	if was > 0 && !rule.Allows(int(was), total) {
		s.badAmounts--
	}
	if amount > 0 && !rule.Allows(int(amount), total) {
		s.badAmounts++
	}
	if rule.Required {
		s.missing -= int(change)
	}
	for _, g := range s.r.GroupsOf[i] {
		before := s.groupBroken(g)
		s.groupUsed[g] += change
		s.groupTotal[g] += int64(amount - was)
		s.badGroups += broke(before, s.groupBroken(g))
	}
	if change != 0 {
		for _, k := range s.r.meets[i] {
			s.met[k] += change
		}
		s.badNeeds += s.brokenNeeds(i)
	}
}

// broke is how the number of broken rules changes.
func broke(before, after bool) int {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

func (s *ruleScorer) groupBroken(g int32) bool {
	return s.groupUsedBroken(g) || s.groupTotalBroken(g)
}

func (s *ruleScorer) groupUsedBroken(g int32) bool {
	u := s.r.Groups[g].Used
	return u != nil && (int(s.groupUsed[g]) < u.Min || int(s.groupUsed[g]) > u.Max)
}

func (s *ruleScorer) groupTotalBroken(g int32) bool {
	t := s.r.Groups[g].Total
	return t != nil && (s.groupTotal[g] < int64(t.Min) || s.groupTotal[g] > int64(t.Max))
}

// brokenNeeds counts those of an ingredient's needs that are not met.
func (s *ruleScorer) brokenNeeds(i int) int {
	n := 0
	for _, k := range s.r.needsOf[i] {
		if s.needBroken(k) {
			n++
		}
	}
	return n
}

// needBroken says whether a need is not met.
func (s *ruleScorer) needBroken(k int32) bool {
	return s.amounts[s.r.Needs[k].If] > 0 && s.met[k] == 0
}

// keptButSums says whether all rules are but those on sums.
func (s *ruleScorer) keptButSums() bool {
	return s.missing == 0 && s.badAmounts == 0 && s.badGroups == 0 && s.badNeeds == 0
}

// LogScore returns 0 if all rules are kept, else −Inf.
func (s *ruleScorer) LogScore() float64 { return logOf(s.keptButSums() && s.badSums == 0) }

// at returns the score of one split of (i, j), k units to i, of which the sums
// hold from least to most.
func (s *ruleScorer) at(i, j, k int, least, most int64) float64 {
	if int64(k) < least || int64(k) > most {
		return negInf
	}
	a, b := s.amounts[i], s.amounts[j]
	s.setButSums(i, int32(k))
	s.setButSums(j, a+b-int32(k))
	score := logOf(s.keptButSums())
	s.setButSums(i, a)
	s.setButSums(j, b)
	return score
}

// Moved takes over the new amounts.
func (s *ruleScorer) Moved(i, j int) {
	for _, k := range [2]int{i, j} {
		if amount := s.x.amounts[k]; amount != s.amounts[k] {
			if s.amounts[k] == 0 {
				s.used = append(s.used, int32(k))
			}
			s.set(k, amount)
		}
	}
	if len(s.used) > 4*s.x.Used()+64 { // those dropped long ago
		s.used = append(s.used[:0], s.x.Ingredients()...)
	}
}

// Line cuts the line to its feasible splits. The two ends are looked at one by
// one. Between them both ingredients are used: rules on what is used hold for
// all splits or for none, rules on groups' totals and limits leave an interval,
// and an ingredient's own amounts an interval and, with a step, a lattice in
// it.
func (s *ruleScorer) Line(i, j int, p *Pieces) {
	sum := int(s.amounts[i] + s.amounts[j])
	least, most := s.sumsHold(i, j)
	if least > most {
		p.Add(0, negInf)
		return
	}
	first := s.at(i, j, 0, least, most)
	p.Add(0, first)
	if sum == 0 {
		return
	}
	last := s.at(i, j, sum, least, most)
	previous := first
	add := func(start int, score float64) {
		if score != previous {
			p.Add(start, score)
			previous = score
		}
	}
	if sum > 1 {
		from, to := s.between(i, j, sum)
		from, to = int(max(int64(from), least)), int(min(int64(to), most+1))
		if from > 1 || from >= to {
			add(1, negInf)
		}
		if ruleI, ruleJ := &s.r.Amounts[i], &s.r.Amounts[j]; from < to && ruleI.Step <= 1 && ruleJ.Step <= 1 {
			add(from, 0)
		} else {
			for k := from; k < to; k++ {
				add(k, logOf(ruleI.Allows(k, s.x.total) && ruleJ.Allows(sum-k, s.x.total)))
			}
		}
		if from < to && to < sum {
			add(to, negInf)
		}
	}
	add(sum, last)
}

// between returns the splits from ≤ k < to with both ingredients used that
// keep every rule but steps and sums; none if from ≥ to.
func (s *ruleScorer) between(i, j, sum int) (from, to int) {
	a, b := s.amounts[i], s.amounts[j]
	s.setButSums(i, 0)
	s.setButSums(j, 0)
	// What i and j have no part in must hold already.
	others := s.badAmounts == 0
	s.setButSums(i, 1)
	s.setButSums(j, 1)
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
	narrow := func(first, last int64) { // for k
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
	s.setButSums(i, a)
	s.setButSums(j, b)
	minI, maxI := s.bounds(i)
	minJ, maxJ := s.bounds(j)
	narrow(minI, maxI)
	narrow(int64(sum)-maxJ, int64(sum)-minJ)
	if !others {
		return 1, 1
	}
	return from, to
}

// bounds returns the smallest and the largest amount of an ingredient in use.
func (s *ruleScorer) bounds(i int) (smallest, largest int64) {
	a := &s.r.Amounts[i]
	if a.Excluded {
		return 1, 0
	}
	smallest, largest = int64(max(a.Min, 1)), int64(s.x.total)
	if a.Max > 0 {
		largest = min(largest, int64(a.Max))
	}
	return smallest, largest
}
