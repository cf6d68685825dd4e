package mcmc

import (
	"slices"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/constraint/volume"
)

// An UncountedRuleShare is about the compositions of n ingredients that keep the rules that can be
// counted. It is the fraction of them that also keep the rules that cannot be counted.
type UncountedRuleShare struct {
	N        int     `json:"-"`        // the number n of ingredients
	Estimate float64 `json:"estimate"` // estimate of the fraction; 0 if no composition is known to keep the rules
	SE       float64 `json:"se"`       // standard error of Estimate; 0 if Estimate is exact
	Exact    bool    `json:"-"`        // whether Estimate is exact, because every composition of n ingredients was checked
	Counted  bool    `json:"-"`        // whether Estimate is known; false if the sparsity law gives n hardly any mass
}

// A ruleset holds the rules of a space in a form that finds the rules of each ingredient fast. It
// also holds the numbers of compositions that keep the rules.
type ruleset struct {
	constraint.Conditions

	needsByIngredient [][]int32 // needsByIngredient[i] lists the needs that name ingredient i in If or Then, as indices into Dependences
	needsByThen       [][]int32 // needsByThen[i] lists the needs that name ingredient i in Then, as indices into Dependences

	firstTermIndex []int32   // firstTermIndex[i] is the index in sumTerms of the first term of ingredient i; one more element holds the end
	sumTerms       []sumTerm // what each ingredient adds to each sum that a rule bounds, sorted by ingredient

	amountRanges []amountRange // amountRanges[i] holds the amounts that the rules allow ingredient i; nil if all amounts are allowed
	lattice      *lattice      // the changes of amounts that keep the sums that rules fix; nil if rules fix no sum

	countTable          *count.Table         // counts the compositions that keep the countable rules; these may be all rules
	sampler             *count.Sampler       // draws the compositions that countTable counts
	untabledReason      *count.SizeError     // why countTable does not count all rules; nil if it counts all rules
	countsFromCache     bool                 // whether some counts came from a cache
	uncountedRuleShares []UncountedRuleShare // uncountedRuleShares[n−1] is the share for n ingredients; nil if countTable counts all rules
	logCounts           []float64            // logCounts[n] is the log of the number of allowed compositions with n ingredients; −Inf if 0 or not counted

	measurement         *volume.Result // the measured shares; nil if no share was measured
	measuredSizeIndices []int          // measuredSizeIndices[n] is the index in measurement.Sizes for n ingredients; −1 if n was not measured
}

// A sumTerm is what one ingredient adds to a sum over the ingredients that a rule bounds.
type sumTerm struct {
	sumIndex      int32            // index of the sum in constraint.Conditions.Sums
	perUnit       int64            // what each unit of the ingredient adds
	perUse        int64            // what the ingredient adds in addition if it is used
	nonlinearTerm *constraint.Term // the full term if not every unit adds the same; otherwise nil
}

// newRuleset returns the rules in conditions, indexed by ingredient. No compositions are counted
// yet.
func newRuleset(conditions *constraint.Conditions) *ruleset {
	r := &ruleset{Conditions: *conditions, needsByIngredient: make([][]int32, len(conditions.Amounts)), needsByThen: make([][]int32, len(conditions.Amounts))}
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
	r.amountRanges = allowedRanges(conditions)
	r.lattice = newLattice(conditions)
	return r
}

// indexSums fills sumTerms with the terms of all sums. They are sorted by ingredient, and then by
// sum.
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
	r.sumTerms = make([]sumTerm, next[len(r.Amounts)])
	for k := range r.Sums {
		for n := range r.Sums[k].Terms {
			t := &r.Sums[k].Terms[n]
			one := sumTerm{sumIndex: int32(k), perUnit: t.PerUnit, perUse: t.PerUse}
			if t.IsBent() {
				one.nonlinearTerm = t
			}
			r.sumTerms[next[t.Ingredient]] = one
			next[t.Ingredient]++
		}
	}
}

// termsOf returns what ingredient i adds to the sums that rules bound.
func (r *ruleset) termsOf(i int) []sumTerm {
	return r.sumTerms[r.firstTermIndex[i]:r.firstTermIndex[i+1]]
}

// isPossible reports whether some composition of n ingredients is allowed, as far as is known.
func (r *ruleset) isPossible(n int) bool { return n < len(r.logCounts) && r.logCounts[n] > negInf }

// isCounted reports whether the compositions of n ingredients that keep all rules were counted or
// measured.
func (r *ruleset) isCounted(n int) bool {
	return r.uncountedRuleShares == nil || r.uncountedRuleShares[n-1].Counted
}

// rulesPropertyName is the name of the rules in error messages, where a property has its name.
const rulesPropertyName = "rules"

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
		usedThenCounts:  make([]int32, len(r.Dependences)),
		sumValues:       make([]int64, len(r.Sums)),
		touchedIndices:  make([]int32, 0, 8),
	}
}

// A ruleScorer is the [Scorer] of the rules of a space. It keeps track of the rules that a
// composition breaks, as the amounts of the composition change one by one.
type ruleScorer struct {
	rules              *ruleset
	composition        *Composition
	amounts            []int32 // amounts[i] is the amount of ingredient i to which all counts below refer
	usedOrFormerlyUsed []int32 // all used ingredients and some formerly used ones, in no particular order; the amounts of all others are 0

	missingRequiredCount int            // number of required ingredients that are not used
	badAmountCount       int            // number of ingredients with an amount that is not allowed
	groupUsedCounts      []int32        // groupUsedCounts[g] is the number of used members of group g
	groupTotals          []int64        // groupTotals[g] is the sum of the units of the members of group g
	badGroupCount        int            // number of groups that break a rule on their used members or their total
	usedThenCounts       []int32        // usedThenCounts[k] is the number of used Then ingredients of need k
	badNeedCount         int            // number of needs that are broken; see needBroken
	sumValues            []int64        // sumValues[k] is the value of the bounded sum k
	badSumCount          int            // number of bounded sums that are outside their bounds
	touchedIndices       []int32        // scratch memory: indices of the groups or sums that a change of amounts concerns
	sumSlopes            []int64        // scratch memory: sumSlopes[k] is the change of sum k per step of feasibleSteps; 0 outside of feasibleSteps
	nonlinearSums        []nonlinearSum // sums that may leave their bounds within the range that innerRangeOfSums last returned
}

// Reset takes the amounts from the composition and counts all broken rules anew.
func (s *ruleScorer) Reset() {
	for _, i := range s.usedOrFormerlyUsed {
		s.amounts[i] = 0
	}
	clear(s.groupUsedCounts)
	clear(s.groupTotals)
	clear(s.usedThenCounts)
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

// setAmount sets the amount of ingredient i in the scorer and updates the counts of broken rules.
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
			s.usedThenCounts[k] += change
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

// brokenChange returns the change in the number of broken rules due to one rule: 1 if the rule was
// kept before and is broken after, −1 if the reverse, and 0 otherwise.
func brokenChange(before, after bool) int {
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}

// groupBroken reports whether group g breaks the rule on its number of used members or the rule on
// its total.
func (s *ruleScorer) groupBroken(g int32) bool {
	return s.groupUsedBroken(g) || s.groupTotalBroken(g)
}

// groupUsedBroken reports whether group g has too few or too many used members.
func (s *ruleScorer) groupUsedBroken(g int32) bool {
	u := s.rules.Groups[g].Used
	return u != nil && (int(s.groupUsedCounts[g]) < u.Min || int(s.groupUsedCounts[g]) > u.Max)
}

// groupTotalBroken reports whether the total amount of group g is outside its limits.
func (s *ruleScorer) groupTotalBroken(g int32) bool {
	t := s.rules.Groups[g].Total
	return t != nil && (s.groupTotals[g] < int64(t.Min) || s.groupTotals[g] > int64(t.Max))
}

// countBrokenNeeds returns the number of broken needs that name ingredient i. A need is a rule that
// if one ingredient is used, one of some others must be used.
func (s *ruleScorer) countBrokenNeeds(i int) int {
	n := 0
	for _, k := range s.rules.needsByIngredient[i] {
		if s.needBroken(k) {
			n++
		}
	}
	return n
}

// needBroken reports whether need k is broken: its If ingredient is used, and none of its Then
// ingredients is used.
func (s *ruleScorer) needBroken(k int32) bool {
	return s.amounts[s.rules.Dependences[k].If] > 0 && s.usedThenCounts[k] == 0
}

// sumBroken reports whether the bounded sum k is outside its bounds.
func (s *ruleScorer) sumBroken(k int32) bool {
	return s.sumValues[k] < s.rules.Sums[k].Min || s.sumValues[k] > s.rules.Sums[k].Max
}

// allRulesKept reports whether all rules are kept.
func (s *ruleScorer) allRulesKept() bool {
	return s.missingRequiredCount == 0 && s.badAmountCount == 0 && s.badGroupCount == 0 && s.badNeedCount == 0 && s.badSumCount == 0
}

// LogScore returns 0 if all rules are kept, and −Inf otherwise.
func (s *ruleScorer) LogScore() float64 { return ruleLogScore(s.allRulesKept()) }

// Values gives all values of a condition the same score, because these rules concern no condition.
func (s *ruleScorer) Values(_ int, p *PiecewiseConstant) { p.Add(0, s.LogScore()) }

// ConditionSet does nothing, because these rules concern no condition.
func (s *ruleScorer) ConditionSet(int) {}

// splitScore returns the log score if k units of the joint amount of i and j go to i, and the rest
// to j. The composition does not change.
func (s *ruleScorer) splitScore(i, j, k int) float64 {
	a, b := s.amounts[i], s.amounts[j]
	s.setAmount(i, int32(k))
	s.setAmount(j, a+b-int32(k))
	score := s.LogScore()
	s.setAmount(i, a)
	s.setAmount(j, b)
	return score
}

// Moved updates the counts of broken rules after the amounts of i and j in the composition have
// changed.
func (s *ruleScorer) Moved(i, j int) {
	for _, k := range [2]int{i, j} {
		if amount := s.composition.amounts[k]; amount != s.amounts[k] {
			if s.amounts[k] == 0 {
				s.usedOrFormerlyUsed = append(s.usedOrFormerlyUsed, int32(k))
			}
			s.setAmount(k, amount)
		}
	}
	if len(s.usedOrFormerlyUsed) > 4*s.composition.UsedCount()+64 { // most entries are unused ingredients
		s.usedOrFormerlyUsed = append(s.usedOrFormerlyUsed[:0], s.composition.Ingredients()...)
	}
}

// amountBounds returns the least and the greatest amount that ingredient i may have if it is used.
// If the ingredient is excluded, it returns 1 and 0.
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

// allowedRanges returns a list that holds, at index i, the amounts that the rules of c allow
// ingredient i. It returns nil if all amounts are allowed.
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
