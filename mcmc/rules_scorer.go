package mcmc

import (
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/constraint/volume"
)

// A UncountedRuleShare is the fraction of the compositions of n ingredients that keep the rules that cannot be
// counted, among those that keep the rules that can be counted.
type UncountedRuleShare struct {
	N        int     `json:"-"`        // the number n of ingredients
	Estimate float64 `json:"estimate"` // the fraction; 0 if no composition is known to keep the rules
	SE       float64 `json:"se"`       // standard error of Estimate; 0 if Estimate is exact
	Exact    bool    `json:"-"`        // whether every composition of n ingredients was checked
	Counted  bool    `json:"-"`        // whether Estimate is known; false if the law gives n hardly any mass
}

// A ruleset holds the rules of a space, indexed by ingredient, and the counts of the compositions
// that keep them.
type ruleset struct {
	constraint.Conditions

	needsByIngredient [][]int32 // by ingredient: indices of the needs that name the ingredient in If or Then
	needsByThen       [][]int32 // by ingredient: indices of the needs that name the ingredient in Then

	firstTermIndex []int32   // by ingredient: index in terms of its first term; the next entry is the index after its last term
	terms          []sumTerm // what each ingredient adds to each bounded sum, sorted by ingredient

	amountRanges []amountRange // by ingredient: the amounts that the rules allow; nil if all amounts are allowed
	lattice      *lattice      // the changes of amounts that keep equalities; nil if there are no equalities

	table          *count.Table         // counts the compositions that keep the countable rules, or all rules
	sampler        *count.Sampler       // draws the compositions that the table counts
	untabledReason *count.SizeError     // why the table does not count all rules; nil if it counts all
	usedCache      bool                 // whether some counts came from a cache
	shares         []UncountedRuleShare // at index n−1: the share for n ingredients; nil if the table counts all rules
	logCounts      []float64            // at index n: log |X_n|, or −Inf if X_n is empty or was not counted

	measurement   *volume.Result // the measured shares; nil if no share was measured
	measuredIndex []int          // by number of ingredients: its index in measurement.Sizes, or −1 if it was not measured
}

// A sumTerm is what one ingredient adds to one bounded sum.
type sumTerm struct {
	sumIndex        int32            // index of the sum
	perUnit, perUse int64            // what each unit adds, and what using the ingredient adds
	nonlinearTerm   *constraint.Term // the full term if units add unequal amounts; otherwise nil
}

// newRuleset returns the rules of c, indexed by ingredient, without counts.
func newRuleset(c *constraint.Conditions) *ruleset {
	r := &ruleset{Conditions: *c, needsByIngredient: make([][]int32, len(c.Amounts)), needsByThen: make([][]int32, len(c.Amounts))}
	index := func(of [][]int32, need int, members ...int) {
		for _, i := range members {
			if !slices.Contains(of[i], int32(need)) {
				of[i] = append(of[i], int32(need))
			}
		}
	}
	for k, need := range r.Dependences {
		index(r.needsByIngredient, k, need.If)
		index(r.needsByIngredient, k, need.Then...)
		index(r.needsByThen, k, need.Then...)
	}
	r.indexSums()
	r.amountRanges = allowedRanges(c)
	r.lattice = newLattice(c)
	return r
}

// indexSums sorts the terms of all sums by ingredient, and by sum for each ingredient.
func (r *ruleset) indexSums() {
	r.firstTermIndex = make([]int32, len(r.Amounts)+1)
	for _, s := range r.Sums {
		for _, t := range s.Terms {
			r.firstTermIndex[t.Ingredient+1]++
		}
	}
	for i := range r.Amounts {
		r.firstTermIndex[i+1] += r.firstTermIndex[i]
	}
	next := slices.Clone(r.firstTermIndex)
	r.terms = make([]sumTerm, next[len(r.Amounts)])
	for k := range r.Sums {
		for n := range r.Sums[k].Terms {
			t := &r.Sums[k].Terms[n]
			one := sumTerm{sumIndex: int32(k), perUnit: t.PerUnit, perUse: t.PerUse}
			if t.IsBent() {
				one.nonlinearTerm = t
			}
			r.terms[next[t.Ingredient]] = one
			next[t.Ingredient]++
		}
	}
}

// termsOf returns what ingredient i adds to the sums.
func (r *ruleset) termsOf(i int) []sumTerm { return r.terms[r.firstTermIndex[i]:r.firstTermIndex[i+1]] }

// isPossible reports whether X_n, the compositions of n ingredients, may be non-empty, as far as is
// known.
func (r *ruleset) isPossible(n int) bool { return n < len(r.logCounts) && r.logCounts[n] > negInf }

// isCounted reports whether it is known if a composition of n ingredients keeps all rules.
func (r *ruleset) isCounted(n int) bool { return r.shares == nil || r.shares[n-1].Counted }

// rulesName names the rules where an error or a term needs the name of a property.
const rulesName = "rules"

// LogScore returns 0 if x keeps the rules, and −Inf otherwise.
func (r *ruleset) LogScore(x *Composition) float64 { return ruleLogScore(r.AreKeptBy(x.Parts())) }

// Scorer returns a scorer that tells whether x keeps the rules.
func (r *ruleset) Scorer(x *Composition) Scorer { return r.scorer(x) }

// scorer is [ruleset.Scorer] with the concrete type.
func (r *ruleset) scorer(x *Composition) *ruleScorer {
	return &ruleScorer{
		rules: r, composition: x,
		amounts:         make([]int32, x.N()),
		groupUsedCounts: make([]int32, len(r.Groups)),
		groupTotals:     make([]int64, len(r.Groups)),
		metThenCounts:   make([]int32, len(r.Dependences)),
		sumValues:       make([]int64, len(r.Sums)),
		touchedIndices:  make([]int32, 0, 8),
	}
}

// A ruleScorer keeps track of the rules that a composition breaks, as the amounts of the
// composition change one by one.
type ruleScorer struct {
	rules              *ruleset
	composition        *Composition
	amounts            []int32 // by ingredient: the amounts to which all counts below refer
	usedOrFormerlyUsed []int32 // all used ingredients, and some that were used before, in no particular order

	missingRequiredCount int            // number of required ingredients that are not used
	badAmountCount       int            // number of ingredients with an amount that is not allowed
	groupUsedCounts      []int32        // by group: number of members that are used
	groupTotals          []int64        // by group: sum of the units of its members
	badGroupCount        int            // number of groups with a broken rule
	metThenCounts        []int32        // by need: number of its Then ingredients that are used
	badNeedCount         int            // number of needs that are not met
	sumValues            []int64        // by bounded sum: its value
	badSumCount          int            // number of sums outside their bounds
	touchedIndices       []int32        // scratch memory: indices of the groups, or of the sums, that a line or a step concerns
	sumSlopes            []int64        // scratch memory, by sum: its change per lattice step; 0 outside of feasibleSteps
	nonlinearSums        []nonlinearSum // sums of the last line that some splits of the allowed range may break
}

// Reset counts all broken rules of the composition anew.
func (s *ruleScorer) Reset() {
	for _, i := range s.usedOrFormerlyUsed {
		s.amounts[i] = 0
	}
	clear(s.groupUsedCounts)
	clear(s.groupTotals)
	clear(s.metThenCounts)
	clear(s.sumValues)
	s.usedOrFormerlyUsed = s.usedOrFormerlyUsed[:0]
	s.missingRequiredCount, s.badAmountCount, s.badGroupCount, s.badNeedCount, s.badSumCount = s.rules.RequiredCount, 0, 0, 0, 0
	for g := range s.rules.Groups {
		if s.groupBroken(int32(g)) {
			s.badGroupCount++
		}
	}
	for k := range s.rules.Sums {
		s.badSumCount += int(oneIf(s.sumBroken(int32(k))))
	}
	for _, i := range s.composition.Ingredients() {
		s.setAmount(int(i), s.composition.amounts[i])
		s.usedOrFormerlyUsed = append(s.usedOrFormerlyUsed, i)
	}
}

// setAmount sets the amount of ingredient i and updates all counts.
func (s *ruleScorer) setAmount(i int, amount int32) {
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
		s.badNeedCount -= s.countBrokenNeeds(i)
	}
	s.amounts[i] = amount
	rule := &s.rules.Amounts[i]
	total := s.composition.total
	if was > 0 && !rule.Allows(int(was), total) {
		s.badAmountCount--
	}
	if amount > 0 && !rule.Allows(int(amount), total) {
		s.badAmountCount++
	}
	if rule.Required {
		s.missingRequiredCount -= int(change)
	}
	for _, g := range s.rules.GroupsOf[i] {
		before := s.groupBroken(g)
		s.groupUsedCounts[g] += change
		s.groupTotals[g] += int64(amount - was)
		s.badGroupCount += brokenChange(before, s.groupBroken(g))
	}
	if change != 0 {
		for _, k := range s.rules.needsByThen[i] {
			s.metThenCounts[k] += change
		}
		s.badNeedCount += s.countBrokenNeeds(i)
	}
	for _, t := range s.rules.termsOf(i) {
		more := t.perUnit*int64(amount-was) + t.perUse*int64(change)
		if t.nonlinearTerm != nil {
			more = t.nonlinearTerm.ValueAt(int(amount)) - t.nonlinearTerm.ValueAt(int(was))
		}
		before := s.sumBroken(t.sumIndex)
		s.sumValues[t.sumIndex] += more
		s.badSumCount += brokenChange(before, s.sumBroken(t.sumIndex))
	}
}

// brokenChange returns the change in the number of broken rules, given whether a rule was broken
// before and is broken after.
func brokenChange(before, after bool) int {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// groupBroken reports whether group g breaks a rule.
func (s *ruleScorer) groupBroken(g int32) bool {
	return s.groupUsedBroken(g) || s.groupTotalBroken(g)
}

// groupUsedBroken reports whether the number of used members of group g is outside its limits.
func (s *ruleScorer) groupUsedBroken(g int32) bool {
	u := s.rules.Groups[g].Used
	return u != nil && (int(s.groupUsedCounts[g]) < u.Min || int(s.groupUsedCounts[g]) > u.Max)
}

// groupTotalBroken reports whether the total of group g is outside its limits.
func (s *ruleScorer) groupTotalBroken(g int32) bool {
	t := s.rules.Groups[g].Total
	return t != nil && (s.groupTotals[g] < int64(t.Min) || s.groupTotals[g] > int64(t.Max))
}

// countBrokenNeeds returns the number of needs that name ingredient i and are not met.
func (s *ruleScorer) countBrokenNeeds(i int) int {
	n := 0
	for _, k := range s.rules.needsByIngredient[i] {
		if s.needBroken(k) {
			n++
		}
	}
	return n
}

// needBroken reports whether need k is not met: its If ingredient is used, and none of its Then
// ingredients is.
func (s *ruleScorer) needBroken(k int32) bool {
	return s.amounts[s.rules.Dependences[k].If] > 0 && s.metThenCounts[k] == 0
}

// sumBroken reports whether sum k is outside its bounds.
func (s *ruleScorer) sumBroken(k int32) bool {
	return s.sumValues[k] < s.rules.Sums[k].Min || s.sumValues[k] > s.rules.Sums[k].Max
}

// allKept reports whether all rules are kept.
func (s *ruleScorer) allKept() bool {
	return s.missingRequiredCount == 0 && s.badAmountCount == 0 && s.badGroupCount == 0 && s.badNeedCount == 0 && s.badSumCount == 0
}

// LogScore returns 0 if all rules are kept, and −Inf otherwise.
func (s *ruleScorer) LogScore() float64 { return ruleLogScore(s.allKept()) }

// Values gives all values of a condition the same score, because these rules concern no condition.
func (s *ruleScorer) Values(_ int, p *PiecewiseConstant) { p.Add(0, s.LogScore()) }

// ConditionSet does nothing, because these rules concern no condition.
func (s *ruleScorer) ConditionSet(int) {}

// splitScore returns the log score of the split of the line of (i, j) that gives k units to i.
func (s *ruleScorer) splitScore(i, j, k int) float64 {
	a, b := s.amounts[i], s.amounts[j]
	s.setAmount(i, int32(k))
	s.setAmount(j, a+b-int32(k))
	score := s.LogScore()
	s.setAmount(i, a)
	s.setAmount(j, b)
	return score
}

// Moved updates the counts after the amounts of i and j have changed.
func (s *ruleScorer) Moved(i, j int) {
	for _, k := range [2]int{i, j} {
		if amount := s.composition.amounts[k]; amount != s.amounts[k] {
			if s.amounts[k] == 0 {
				s.usedOrFormerlyUsed = append(s.usedOrFormerlyUsed, int32(k))
			}
			s.setAmount(k, amount)
		}
	}
	if len(s.usedOrFormerlyUsed) > 4*s.composition.Used()+64 { // most entries are unused ingredients
		s.usedOrFormerlyUsed = append(s.usedOrFormerlyUsed[:0], s.composition.Ingredients()...)
	}
}

// amountBounds returns the least and the greatest amount that ingredient i may have if it is used.
// The least exceeds the greatest if the ingredient is excluded.
func (s *ruleScorer) amountBounds(i int) (smallest, largest int64) {
	a := &s.rules.Amounts[i]
	if a.Excluded {
		return 1, 0
	}
	smallest, largest = int64(max(a.Min, 1)), int64(s.composition.total)
	if a.Max > 0 {
		largest = min(largest, int64(a.Max))
	}
	return smallest, largest
}

// An amountRange is the set of the amounts lo, lo+step, … up to hi. It is empty if lo > hi.
type amountRange struct{ lo, hi, step int }

// allowedRanges returns the amounts that the rules of c allow each ingredient. It returns nil if
// all amounts are allowed.
func allowedRanges(c *constraint.Conditions) []amountRange {
	all, bounded := make([]amountRange, len(c.Amounts)), false
	for i, a := range c.Amounts {
		lo, step, n := a.AllowedAmounts(c.Total)
		if all[i] = (amountRange{lo, lo + (n-1)*step, step}); a.Excluded || n == 0 {
			all[i] = amountRange{1, 0, 1}
			continue
		}
		bounded = bounded || all[i] != amountRange{1, c.Total, 1}
	}
	if !bounded {
		return nil
	}
	return all
}
