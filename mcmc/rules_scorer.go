package mcmc

import (
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/constraint/volume"
)

// A Share is the fraction of the countable compositions of n ingredients that keep the other rules
// too.
type Share struct {
	N        int     `json:"-"`
	Estimate float64 `json:"estimate"` // 0 if no composition is known to keep them
	SE       float64 `json:"se"`       // standard error of the estimate, 0 if it is exact
	Exact    bool    `json:"-"`        // every composition of n ingredients was checked
	Counted  bool    `json:"-"`        // false: the law gives n negligible mass, and the fraction is unknown
}

// ruleset holds a space's rules, indexed by ingredient, and their counts.
type ruleset struct {
	constraint.Conditions

	needsOf    [][]int32 // by ingredient: the needs that name it in If or Then
	needsMetBy [][]int32 // by ingredient: the needs that name it in Then

	firstTerm []int32 // by ingredient: the index of its first term; the next entry ends its terms
	terms     []sumTerm

	doses   []doses  // by ingredient; nil if all amounts are allowed
	lattice *lattice // the moves that keep equalities; nil if there are none

	table    *count.Table
	sampler  *count.Sampler
	untabled *count.SizeError // why the table does not count all rules; nil if it does
	cached   bool             // whether counts came from a cache
	shares   []Share          // by n from 1 on; nil if the table counts all rules
	logCount []float64        // log |X_n| at n, −Inf at 0 and where X_n is empty or not counted

	measured   *volume.Result // nil if no size was measured
	measuredAt []int          // by n: the index of its size in measured.Sizes, or −1
}

// A sumTerm is the contribution of one ingredient to a sum.
type sumTerm struct {
	sum            int32
	perUnit, whole int64
	bent           *constraint.Term // the full term if units add unequal amounts, else nil
}

// newRuleset indexes the rules of c by ingredient.
func newRuleset(c *constraint.Conditions) *ruleset {
	r := &ruleset{Conditions: *c, needsOf: make([][]int32, len(c.Amounts)), needsMetBy: make([][]int32, len(c.Amounts))}
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
		index(r.needsMetBy, k, need.Then...)
	}
	r.indexSums()
	r.doses = dosesOf(c)
	r.lattice = newLattice(c)
	return r
}

// indexSums lists the terms by ingredient, each list in the order of the sums.
func (r *ruleset) indexSums() {
	r.firstTerm = make([]int32, len(r.Amounts)+1)
	for _, s := range r.Sums {
		for _, t := range s.Terms {
			r.firstTerm[t.Ingredient+1]++
		}
	}
	for i := range r.Amounts {
		r.firstTerm[i+1] += r.firstTerm[i]
	}
	next := slices.Clone(r.firstTerm)
	r.terms = make([]sumTerm, next[len(r.Amounts)])
	for k := range r.Sums {
		for n := range r.Sums[k].Terms {
			t := &r.Sums[k].Terms[n]
			one := sumTerm{sum: int32(k), perUnit: t.PerUnit, whole: t.PerUse}
			if t.IsBent() {
				one.bent = t
			}
			r.terms[next[t.Ingredient]] = one
			next[t.Ingredient]++
		}
	}
}

func (r *ruleset) termsOf(i int) []sumTerm { return r.terms[r.firstTerm[i]:r.firstTerm[i+1]] }

// possible reports whether X_n may be non-empty, as far as is known.
func (r *ruleset) possible(n int) bool { return n < len(r.logCount) && r.logCount[n] > negInf }

// counted reports whether it is known if X_n is empty.
func (r *ruleset) counted(n int) bool { return r.shares == nil || r.shares[n-1].Counted }

// rulesName stands for the rules where properties have names.
const rulesName = "rules"

// LogScore returns 0 where the rules are kept and −Inf elsewhere.
func (r *ruleset) LogScore(x *Composition) float64 { return ruleLogScore(r.Keeps(x.Parts())) }

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

// ruleScorer tracks which rules a composition breaks, amount by amount.
type ruleScorer struct {
	r       *ruleset
	x       *Composition
	amounts []int32 // the amounts that all counts below are for
	used    []int32 // all used ingredients and perhaps some unused ones, in no order

	missing    int     // required ingredients that are not used
	badAmounts int     // ingredients with an amount that they may not take
	groupUsed  []int32 // by group: number of used members, and the sum of their units
	groupTotal []int64
	badGroups  int
	met        []int32 // by need: number of its Then ingredients that are used
	badNeeds   int
	sums       []int64 // by sum: its value
	badSums    int
	touched    []int32
	slopes     []int64   // by sum: its change per lattice step; 0 outside of along moves
	bent       []bentSum // sums of the last line whose allowed splits form a lattice
}

// Reset recounts everything.
func (s *ruleScorer) Reset() {
	for _, i := range s.used {
		s.amounts[i] = 0
	}
	clear(s.groupUsed)
	clear(s.groupTotal)
	clear(s.met)
	clear(s.sums)
	s.used = s.used[:0]
	s.missing, s.badAmounts, s.badGroups, s.badNeeds, s.badSums = s.r.Required, 0, 0, 0, 0
	for g := range s.r.Groups {
		if s.groupBroken(int32(g)) {
			s.badGroups++
		}
	}
	for k := range s.r.Sums {
		s.badSums += int(oneIf(s.sumBroken(int32(k))))
	}
	for _, i := range s.x.Ingredients() {
		s.set(int(i), s.x.amounts[i])
		s.used = append(s.used, i)
	}
}

// set changes one amount and updates the counts.
func (s *ruleScorer) set(i int, amount int32) {
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
		s.badGroups += brokenChange(before, s.groupBroken(g))
	}
	if change != 0 {
		for _, k := range s.r.needsMetBy[i] {
			s.met[k] += change
		}
		s.badNeeds += s.brokenNeeds(i)
	}
	for _, t := range s.r.termsOf(i) {
		more := t.perUnit*int64(amount-was) + t.whole*int64(change)
		if t.bent != nil {
			more = t.bent.At(int(amount)) - t.bent.At(int(was))
		}
		before := s.sumBroken(t.sum)
		s.sums[t.sum] += more
		s.badSums += brokenChange(before, s.sumBroken(t.sum))
	}
}

// brokenChange returns the change in the number of broken rules.
func brokenChange(before, after bool) int {
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

// brokenNeeds counts the unmet needs of an ingredient.
func (s *ruleScorer) brokenNeeds(i int) int {
	n := 0
	for _, k := range s.r.needsOf[i] {
		if s.needBroken(k) {
			n++
		}
	}
	return n
}

// needBroken reports whether a need is not met.
func (s *ruleScorer) needBroken(k int32) bool {
	return s.amounts[s.r.Needs[k].If] > 0 && s.met[k] == 0
}

func (s *ruleScorer) sumBroken(k int32) bool {
	return s.sums[k] < s.r.Sums[k].Min || s.sums[k] > s.r.Sums[k].Max
}

// allKept reports whether all rules hold.
func (s *ruleScorer) allKept() bool {
	return s.missing == 0 && s.badAmounts == 0 && s.badGroups == 0 && s.badNeeds == 0 && s.badSums == 0
}

// LogScore returns 0 if all rules are kept, else −Inf.
func (s *ruleScorer) LogScore() float64 { return ruleLogScore(s.allKept()) }

// Values gives all values of a condition the same score: no rule of s concerns a condition.
func (s *ruleScorer) Values(_ int, p *Pieces) { p.Add(0, s.LogScore()) }

// ConditionSet does nothing.
func (s *ruleScorer) ConditionSet(int) {}

// at returns the score of one split of (i, j), with k units to i.
func (s *ruleScorer) at(i, j, k int) float64 {
	a, b := s.amounts[i], s.amounts[j]
	s.set(i, int32(k))
	s.set(j, a+b-int32(k))
	score := s.LogScore()
	s.set(i, a)
	s.set(j, b)
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
	if len(s.used) > 4*s.x.Used()+64 { // most entries are unused ingredients
		s.used = append(s.used[:0], s.x.Ingredients()...)
	}
}

// amountBounds returns the least and the greatest amount that ingredient i may have if it is used.
// The least exceeds the greatest if it is excluded.
func (s *ruleScorer) amountBounds(i int) (smallest, largest int64) {
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

// Doses are the amounts lo, lo+step … up to hi.
type doses struct{ lo, hi, step int }

// dosesOf returns the amounts that the rules of c allow each ingredient, nil if all amounts are allowed.
func dosesOf(c *constraint.Conditions) []doses {
	all, bounded := make([]doses, len(c.Amounts)), false
	for i, a := range c.Amounts {
		lo, step, n := a.AllowedAmounts(c.Total)
		if all[i] = (doses{lo, lo + (n-1)*step, step}); a.Excluded || n == 0 {
			all[i] = doses{1, 0, 1}
			continue
		}
		bounded = bounded || all[i] != doses{1, c.Total, 1}
	}
	if !bounded {
		return nil
	}
	return all
}
