package mcmc

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// conditionCases divides a space in which rules join conditions and compositions into cases. A case
// is a combination of classes of values, one class of each condition. Within a case the same rules
// hold for every composition.
type conditionCases struct {
	caseSpaces           []*Space    // caseSpaces[k] is the space of the compositions of case k; nil if case k allows no composition
	caseLogProbabilities []float64   // caseLogProbabilities[k] is the log probability that random values of the conditions belong to case k
	caseStrides          []int       // caseStrides[c]: by how much the number of the case grows if the class of condition c grows by 1
	classCounts          []int       // classCounts[c] is the number of classes of condition c
	caseConditions       []Condition // the conditions whose classes make up the cases

	// keptCaseLaws[n] is the law of the case, given n used ingredients. It counts the compositions
	// that keep all rules.
	keptCaseLaws []caseLaw

	// drawableCaseLaws[n] is the law of the case, given n used ingredients. It counts the
	// compositions that a [spaceDrawer] can draw, some of which may break rules.
	drawableCaseLaws []caseLaw
}

// A caseLaw is the distribution from which a case of [conditionCases] is drawn, given the number of
// used ingredients. The weight of a case is its probability times the number of its compositions.
type caseLaw struct {
	logWeights []float64 // logWeights[k] is the log weight of case k
	weights    []float64 // weights[k] is the weight of case k divided by the greatest weight
	onlyCase   int       // the number of the case if exactly one case has positive weight; otherwise −1
}

// newCaseLaw returns the law in which case k has the log weight logs[k].
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

// newConditionCases divides the space base, which has conditions, into cases. The slice spaces
// holds the space of the compositions of each case. If spaces is nil, the result is nil.
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

// computeLaws computes keptCaseLaws and drawableCaseLaws for 0 to maxUsed used ingredients.
func (s *conditionCases) computeLaws(maxUsed int) {
	for n := range maxUsed + 1 {
		kept, drawable := make([]float64, len(s.caseSpaces)), make([]float64, len(s.caseSpaces))
		for k, c := range s.caseSpaces {
			kept[k], drawable[k] = negInf, negInf
			if c != nil && n > 0 && n <= c.MaxUsed() && c.rules.logCounts[n] > negInf {
				kept[k] = s.caseLogProbabilities[k] + c.rules.logCounts[n]
				drawable[k] = s.caseLogProbabilities[k] + c.logDrawableCount(n)
			}
		}
		s.keptCaseLaws, s.drawableCaseLaws = append(s.keptCaseLaws, newCaseLaw(kept)), append(s.drawableCaseLaws, newCaseLaw(drawable))
	}
}

// classInCase returns the class of values of condition c that belongs to case k.
func (s *conditionCases) classInCase(k, c int) int { return k / s.caseStrides[c] % s.classCounts[c] }

// caseOf returns the number of the case to which the conditions of x belong.
func (s *conditionCases) caseOf(x *Composition) int {
	k := 0
	for c := range s.caseStrides {
		k += s.caseStrides[c] * s.caseConditions[c].classOf(int(x.conditions[c]))
	}
	return k
}

// draw returns the number of a random case, drawn in proportion to the weights. It uses no random
// number if only one case has positive weight.
func (l *caseLaw) draw(r *Rand) int {
	if l.onlyCase >= 0 {
		return l.onlyCase
	}
	return r.Categorical(l.weights)
}

// logSumExp returns log(e^v₁ + e^v₂ + …) for the numbers v₁, v₂, … in logs.
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

// withCountsOfCases returns a copy of the rules r with counts over all cases of the conditions. W_n
// of [WithConditions] takes the place of the number of compositions with n ingredients.
func (r *ruleset) withCountsOfCases(s *conditionCases) *ruleset {
	m := *r
	m.measurement, m.measuredSizeIndices, m.uncountedRuleShares = nil, nil, nil
	m.logCounts = make([]float64, len(s.keptCaseLaws))
	for n := range m.logCounts {
		m.logCounts[n] = logSumExp(s.keptCaseLaws[n].logWeights)
	}
	if !slices.ContainsFunc(s.caseSpaces, func(c *Space) bool { return c != nil && c.rules.uncountedRuleShares != nil }) {
		return &m
	}
	for n := 1; n < len(m.logCounts); n++ {
		m.uncountedRuleShares = append(m.uncountedRuleShares, s.uncountedRuleShare(n, m.logCounts[n]))
	}
	return &m
}

// uncountedRuleShare returns the [UncountedRuleShare] for n ingredients over all cases. This is the
// fraction of the pairs that a [spaceDrawer] can draw which keep all rules. A pair is a composition
// with n ingredients and values of the conditions. The argument logW is log W_n of
// [WithConditions]. The standard errors of the cases are treated as independent.
func (s *conditionCases) uncountedRuleShare(n int, logW float64) UncountedRuleShare {
	all := UncountedRuleShare{N: n, Exact: true, Counted: true}
	drawn, squares := logSumExp(s.drawableCaseLaws[n].logWeights), 0.0
	for k, c := range s.caseSpaces {
		if c == nil || n > c.MaxUsed() || c.rules.uncountedRuleShares == nil {
			continue
		}
		one := c.rules.uncountedRuleShares[n-1]
		all.Exact, all.Counted = all.Exact && one.Exact, all.Counted && one.Counted
		if one.SE > 0 {
			e := float64(one.SE * portable.Exp(s.drawableCaseLaws[n].logWeights[k]-drawn))
			squares += float64(e * e)
		}
	}
	if logW > negInf {
		all.Estimate, all.SE = portable.Exp(logW-drawn), math.Sqrt(squares)
	}
	return all
}

// lawStandardErrors returns the standard errors of the probabilities p[n] of n used ingredients.
// These errors come from the standard errors of the measured [UncountedRuleShare]s, which are
// treated as independent. To first order, with e_n the relative error of W_n, the error of P(n) is
//
//	P(n)·sqrt((1 − 2P(n))·e_n² + Σ_m P(m)²·e_m²).
func (r *ruleset) lawStandardErrors(p []float64) []float64 {
	errors, relative, all := make([]float64, len(p)), make([]float64, len(p)), 0.0
	for n := 1; n < len(p) && n <= len(r.uncountedRuleShares); n++ {
		if share := r.uncountedRuleShares[n-1]; share.SE > 0 {
			relative[n] = share.SE / share.Estimate
			all += float64(p[n] * p[n] * relative[n] * relative[n])
		}
	}
	for n := range errors {
		errors[n] = float64(p[n] * math.Sqrt(max(0, float64((1-float64(2*p[n]))*relative[n]*relative[n])+all)))
	}
	return errors
}

// caseRulesPropertyName is the name of the rules of a case in error messages, where a property has its
// name.
const caseRulesPropertyName = "rules with conditions"

// LogScore returns 0 if x keeps the rules that hold for the conditions of x, and −Inf otherwise.
func (s *conditionCases) LogScore(x *Composition) float64 {
	space := s.caseSpaces[s.caseOf(x)]
	if space == nil {
		return negInf
	}
	return space.rules.LogScore(x)
}

// Scorer returns a scorer that tells whether x keeps the rules that hold for the conditions of x.
func (s *conditionCases) Scorer(x *Composition) Scorer {
	return &caseScorer{cases: s, composition: x, scorers: make([]*ruleScorer, len(s.caseSpaces))}
}

// A caseScorer is a [Scorer] of the rules of [conditionCases]: its score tells whether a
// composition keeps the rules of its case. It has one [ruleScorer] per case. Only the ruleScorer of
// the current case follows the changes of the composition.
type caseScorer struct {
	cases         *conditionCases
	composition   *Composition
	scorers       []*ruleScorer // scorers[k] is the scorer of case k; nil until it is needed
	currentScorer *ruleScorer   // the scorer of the case to which the composition belongs; nil if that case allows no composition
	currentCase   int           // number of the case to which the composition belongs
	classScores   []float64     // scratch memory of Values: the score of each class of a condition
}

// scorerOfCase returns the scorer of case k, or nil if the case allows no composition.
func (c *caseScorer) scorerOfCase(k int) *ruleScorer {
	if space := c.cases.caseSpaces[k]; c.scorers[k] == nil && space != nil {
		c.scorers[k] = space.rules.scorer(c.composition)
	}
	return c.scorers[k]
}

// Reset finds the case of the composition and scores the composition anew. It must be called after
// any change of the composition.
func (c *caseScorer) Reset() {
	c.currentCase = c.cases.caseOf(c.composition)
	if c.currentScorer = c.scorerOfCase(c.currentCase); c.currentScorer != nil {
		c.currentScorer.Reset()
	}
}

// LogScore returns 0 if the composition keeps the rules of its case, and −Inf otherwise.
func (c *caseScorer) LogScore() float64 {
	if c.currentScorer == nil {
		return negInf
	}
	return c.currentScorer.LogScore()
}

// Line adds to p the score of each split, that is, each division of the joint amount of the
// ingredients i and j. The conditions, and so the case, stay the same.
func (c *caseScorer) Line(i, j int, p *PiecewiseConstant) {
	if c.currentScorer == nil {
		p.Add(0, negInf)
		return
	}
	c.currentScorer.Line(i, j, p)
}

// Moved updates the scorer after the amounts of the ingredients i and j have changed.
func (c *caseScorer) Moved(i, j int) {
	if c.currentScorer != nil {
		c.currentScorer.Moved(i, j)
	}
}

// Values adds to p, for each value of condition k, the score that the composition would have with
// this value.
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

// ConditionSet updates the scorer after a condition of the composition has got another value.
func (c *caseScorer) ConditionSet(int) { c.Reset() }
