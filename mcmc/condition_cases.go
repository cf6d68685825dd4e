package mcmc

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// conditionCases divides a space in which rules join conditions and compositions. A case is a
// combination of one class of values of each condition. Within a case the same rules hold for every
// composition.
type conditionCases struct {
	caseSpaces           []*Space    // by case: the space of its compositions; nil if the case allows no composition
	caseLogProbabilities []float64   // by case: log Σ p(z) over the values z of the conditions in the case
	caseStrides          []int       // by condition: the difference between the numbers of two cases whose classes differ by 1
	classCounts          []int       // by condition: the number of its classes
	caseConditions       []Condition // the conditions whose classes make up the cases

	// By the number n of used ingredients: the law of the case. The law keptLaws counts the
	// compositions that keep all rules, and drawableLaws those that a [spaceDrawer] can draw.
	keptLaws, drawableLaws []caseLaw
}

// A caseLaw is the law by which a case is drawn, given the number of used ingredients. The weight
// of a case is its probability times the number of its compositions.
type caseLaw struct {
	logWeights []float64 // by case: log of the weight
	weights    []float64 // by case: the weight divided by the greatest weight
	onlyCase   int       // the only case of positive weight, or −1 if there are several such cases or none
}

// newCaseLaw returns the law of cases whose weights have the given logarithms.
func newCaseLaw(logs []float64) caseLaw {
	l := caseLaw{logWeights: logs, weights: make([]float64, len(logs)), onlyCase: -1}
	top, positive := slices.Max(logs), 0
	for k, log := range logs {
		if l.weights[k] = portable.Exp(log - top); l.weights[k] > 0 {
			l.onlyCase = k
			positive++
		}
	}
	if positive != 1 {
		l.onlyCase = -1
	}
	return l
}

// newConditionCases returns the cases of the space base, which has conditions. The slice spaces holds, for
// each case, the space of its compositions. newConditionCases returns nil if spaces is nil.
func newConditionCases(base *Space, spaces []*Space) (*conditionCases, error) {
	set := base.conditions
	s := &conditionCases{caseSpaces: spaces, caseStrides: make([]int, len(set.conditions)), caseConditions: set.conditions}
	number := 1
	for c := len(set.conditions) - 1; c >= 0; c-- {
		s.caseStrides[c] = number
		if number *= len(set.valuesByClass[c]); number > maxCases {
			return nil, fmt.Errorf("rules divide the conditions into more than %d cases", maxCases)
		}
	}
	for _, values := range set.valuesByClass {
		s.classCounts = append(s.classCounts, len(values))
	}
	if spaces == nil {
		if number > 1 {
			return nil, fmt.Errorf("the conditions have %d cases, and no spaces are given", number)
		}
		return nil, nil
	}
	if len(spaces) != number {
		return nil, fmt.Errorf("the conditions have %d cases, and %d spaces are given", number, len(spaces))
	}
	if base.rules == nil {
		return nil, fmt.Errorf("conditions with cases belong to a space with rules")
	}
	most := base.MaxUsed()
	for k, c := range spaces {
		sum := 0.0
		for of := range set.conditions {
			mass := 0.0
			for _, v := range set.valuesByClass[of][s.classInCase(k, of)] {
				mass += set.probabilities[of][v]
			}
			sum += portable.Log(mass)
		}
		s.caseLogProbabilities = append(s.caseLogProbabilities, sum)
		if c == nil {
			continue
		}
		if c.ingredients != base.ingredients || c.total != base.total || c.rules == nil || c.conditions != nil {
			return nil, fmt.Errorf("case %d is not a space with rules of %d ingredients and a total of %d", k, base.ingredients, base.total)
		}
		most = max(most, c.MaxUsed())
	}
	s.computeLaws(most)
	return s, nil
}

// computeLaws computes the laws of the cases for each number of used ingredients from 0 to most.
func (s *conditionCases) computeLaws(most int) {
	for n := range most + 1 {
		kept, drawable := make([]float64, len(s.caseSpaces)), make([]float64, len(s.caseSpaces))
		for k, c := range s.caseSpaces {
			kept[k], drawable[k] = negInf, negInf
			if c != nil && n > 0 && n <= c.MaxUsed() && c.rules.logCounts[n] > negInf {
				kept[k] = s.caseLogProbabilities[k] + c.rules.logCounts[n]
				drawable[k] = s.caseLogProbabilities[k] + c.logDrawable(n)
			}
		}
		s.keptLaws, s.drawableLaws = append(s.keptLaws, newCaseLaw(kept)), append(s.drawableLaws, newCaseLaw(drawable))
	}
}

// classInCase returns the class that condition c has in case k.
func (s *conditionCases) classInCase(k, c int) int { return k / s.caseStrides[c] % s.classCounts[c] }

// caseOf returns the index of the case to which the conditions of x belong.
func (s *conditionCases) caseOf(x *Composition) int {
	k := 0
	for c := range s.caseStrides {
		k += s.caseStrides[c] * s.caseConditions[c].classOf(int(x.conditions[c]))
	}
	return k
}

// draw draws a case in proportion to its weight. It draws no random number if only one case has
// positive weight.
func (l *caseLaw) draw(r *Rand) int {
	if l.onlyCase >= 0 {
		return l.onlyCase
	}
	return r.Categorical(l.weights)
}

// logSumExp returns log Σ e^v over the numbers v in logs.
func logSumExp(logs []float64) float64 {
	top := slices.Max(logs)
	if top == negInf {
		return negInf
	}
	sum := 0.0
	for _, v := range logs {
		sum += portable.Exp(v - top)
	}
	return top + portable.Log(sum)
}

// withCountsOfCases returns a copy of the rules r with counts of the whole space of all cases: log
// W_n in place of log |X_n|, and the shares of all cases together.
func (r *ruleset) withCountsOfCases(s *conditionCases) *ruleset {
	m := *r
	m.measurement, m.measuredIndex, m.shares = nil, nil, nil
	m.logCounts = make([]float64, len(s.keptLaws))
	for n := range m.logCounts {
		m.logCounts[n] = logSumExp(s.keptLaws[n].logWeights)
	}
	if !slices.ContainsFunc(s.caseSpaces, func(c *Space) bool { return c != nil && c.rules.shares != nil }) {
		return &m
	}
	for n := 1; n < len(m.logCounts); n++ {
		m.shares = append(m.shares, s.shareForSize(n, m.logCounts[n]))
	}
	return &m
}

// shareForSize returns the share of the pairs of a composition and conditions that keep all rules,
// among the pairs that a [spaceDrawer] draws from. The compositions use n ingredients, and logW is
// log W_n of [WithConditions]. The errors of the cases are taken as independent.
func (s *conditionCases) shareForSize(n int, logW float64) UncountedRuleShare {
	all := UncountedRuleShare{N: n, Exact: true, Counted: true}
	drawn, squares := logSumExp(s.drawableLaws[n].logWeights), 0.0
	for k, c := range s.caseSpaces {
		if c == nil || n > c.MaxUsed() || c.rules.shares == nil {
			continue
		}
		one := c.rules.shares[n-1]
		all.Exact, all.Counted = all.Exact && one.Exact, all.Counted && one.Counted
		if one.SE > 0 {
			e := float64(one.SE * portable.Exp(s.drawableLaws[n].logWeights[k]-drawn))
			squares += float64(e * e)
		}
	}
	if logW > negInf {
		all.Estimate, all.SE = portable.Exp(logW-drawn), math.Sqrt(squares)
	}
	return all
}

// lawErrorsFromShares returns the standard error of each P(n) that the standard errors of the
// shares cause. The argument p holds P(n) at index n. The errors of the shares are taken as
// independent. To first order, with e_n the relative error of W_n, the error of P(n) is
//
//	P(n)·sqrt((1 − 2P(n))·e_n² + Σ_m P(m)²·e_m²).
func (r *ruleset) lawErrorsFromShares(p []float64) []float64 {
	errors, relative, all := make([]float64, len(p)), make([]float64, len(p)), 0.0
	for n := 1; n < len(p) && n <= len(r.shares); n++ {
		if share := r.shares[n-1]; share.SE > 0 {
			relative[n] = share.SE / share.Estimate
			all += float64(p[n] * p[n] * relative[n] * relative[n])
		}
	}
	for n := range errors {
		errors[n] = float64(p[n] * math.Sqrt(max(0, float64((1-float64(2*p[n]))*relative[n]*relative[n])+all)))
	}
	return errors
}

// caseRulesName names the rules of a case where an error or a term needs the name of a property.
const caseRulesName = "rules with conditions"

// LogScore returns 0 if x keeps the rules of its case, and −Inf otherwise.
func (s *conditionCases) LogScore(x *Composition) float64 {
	space := s.caseSpaces[s.caseOf(x)]
	if space == nil {
		return negInf
	}
	return space.rules.LogScore(x)
}

// Scorer returns a scorer of the rules of the case of x.
func (s *conditionCases) Scorer(x *Composition) Scorer {
	return &caseScorer{cases: s, composition: x, scorers: make([]*ruleScorer, len(s.caseSpaces))}
}

// A caseScorer scores whether its composition keeps the rules of its case. Only the scorer of the
// current case follows the changes of the composition.
type caseScorer struct {
	cases         *conditionCases
	composition   *Composition
	scorers       []*ruleScorer // by case: its scorer; nil until it is needed
	currentScorer *ruleScorer   // the scorer of the current case; nil if that case allows no composition
	currentCase   int           // the case to which the composition belongs
	classScores   []float64     // by class: scratch memory of Values
}

// scorerOfCase returns the scorer of case k, or nil if the case allows no composition.
func (c *caseScorer) scorerOfCase(k int) *ruleScorer {
	if space := c.cases.caseSpaces[k]; c.scorers[k] == nil && space != nil {
		c.scorers[k] = space.rules.scorer(c.composition)
	}
	return c.scorers[k]
}

// Reset finds the case of the composition and scores the composition anew. It is called after the
// composition has been set.
func (c *caseScorer) Reset() {
	c.currentCase = c.cases.caseOf(c.composition)
	if c.currentScorer = c.scorerOfCase(c.currentCase); c.currentScorer != nil {
		c.currentScorer.Reset()
	}
}

// LogScore returns 0 if the rules of the current case are kept, and −Inf otherwise.
func (c *caseScorer) LogScore() float64 {
	if c.currentScorer == nil {
		return negInf
	}
	return c.currentScorer.LogScore()
}

// Line adds to p the scores of all divisions of the joint amount of i and j. The case stays the
// same.
func (c *caseScorer) Line(i, j int, p *PiecewiseConstant) {
	if c.currentScorer == nil {
		p.Add(0, negInf)
		return
	}
	c.currentScorer.Line(i, j, p)
}

// Moved updates the scorer after the amounts of i and j have changed.
func (c *caseScorer) Moved(i, j int) {
	if c.currentScorer != nil {
		c.currentScorer.Moved(i, j)
	}
}

// Values adds the score of each value of condition k to p. All else stays as it is.
func (c *caseScorer) Values(k int, p *PiecewiseConstant) {
	of := &c.cases.caseConditions[k]
	base := c.currentCase - c.cases.caseStrides[k]*of.classOf(int(c.composition.conditions[k]))
	scores := slices.Grow(c.classScores[:0], c.cases.classCounts[k])[:c.cases.classCounts[k]]
	c.classScores = scores
	for class := range scores {
		number := base + c.cases.caseStrides[k]*class
		scores[class] = negInf
		if s := c.scorerOfCase(number); s != nil {
			if number != c.currentCase {
				s.Reset()
			}
			scores[class] = s.LogScore()
		}
	}
	for v := range of.Weights {
		if score := scores[of.classOf(v)]; v == 0 || score != p.values[len(p.values)-1] {
			p.Add(v, score)
		}
	}
}

// ConditionSet updates the scorer after the value of a condition has changed.
func (c *caseScorer) ConditionSet(int) { c.Reset() }
