package mcmc

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// cases are the parts of a space in which the rules that join conditions and compositions say the
// same of every composition: one for each combination of the classes of the conditions.
type cases struct {
	spaces    []*Space  // by case; nil where the case allows no composition
	logP      []float64 // by case: log Σ p(z) over its values z
	stride    []int     // by condition: the difference in number of two cases one class apart
	classes   []int     // by condition: its number of classes
	classesOf []Condition

	// By n: the law of the case among the compositions that keep all rules, and among those that a
	// drawer draws from.
	kept, drawable []caseLaw
}

// A caseLaw is the law of the case of a pair of n ingredients: the case times the number of its
// compositions.
type caseLaw struct {
	logs     []float64 // by case: log of the weight
	weights  []float64 // by case: the weight as a share of the greatest
	onlyCase int       // the case if it is the only one of positive weight, else −1
}

// newCaseLaw returns the law of weights with the given logarithms.
func newCaseLaw(logs []float64) caseLaw {
	l := caseLaw{logs: logs, weights: make([]float64, len(logs)), onlyCase: -1}
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

// newCases returns the cases of a space with conditions; nil if no spaces are given.
func newCases(base *Space, spaces []*Space) (*cases, error) {
	set := base.conditions
	s := &cases{spaces: spaces, stride: make([]int, len(set.list)), classesOf: set.list}
	number := 1
	for c := len(set.list) - 1; c >= 0; c-- {
		s.stride[c] = number
		if number *= len(set.values[c]); number > maxCases {
			return nil, fmt.Errorf("rules divide the conditions into more than %d cases", maxCases)
		}
	}
	for _, values := range set.values {
		s.classes = append(s.classes, len(values))
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
		for of := range set.list {
			mass := 0.0
			for _, v := range set.values[of][s.class(k, of)] {
				mass += set.probabilities[of][v]
			}
			sum += portable.Log(mass)
		}
		s.logP = append(s.logP, sum)
		if c == nil {
			continue
		}
		if c.ingredients != base.ingredients || c.total != base.total || c.rules == nil || c.conditions != nil {
			return nil, fmt.Errorf("case %d is not a space with rules of %d ingredients and a total of %d", k, base.ingredients, base.total)
		}
		most = max(most, c.MaxUsed())
	}
	s.count(most)
	return s, nil
}

// count computes the weights of the cases for n up to most.
func (s *cases) count(most int) {
	for n := range most + 1 {
		kept, drawable := make([]float64, len(s.spaces)), make([]float64, len(s.spaces))
		for k, c := range s.spaces {
			kept[k], drawable[k] = negInf, negInf
			if c != nil && n > 0 && n <= c.MaxUsed() && c.rules.logCount[n] > negInf {
				kept[k] = s.logP[k] + c.rules.logCount[n]
				drawable[k] = s.logP[k] + c.logDrawable(n)
			}
		}
		s.kept, s.drawable = append(s.kept, newCaseLaw(kept)), append(s.drawable, newCaseLaw(drawable))
	}
}

// class returns the class of condition c in case k.
func (s *cases) class(k, c int) int { return k / s.stride[c] % s.classes[c] }

// caseOf returns the case of a composition.
func (s *cases) caseOf(x *Composition) int {
	k := 0
	for c := range s.stride {
		k += s.stride[c] * s.classesOf[c].classOf(int(x.conditions[c]))
	}
	return k
}

// draw draws a case in proportion to its weight. Of a single one it takes no random number.
func (l *caseLaw) draw(r *Rand) int {
	if l.onlyCase >= 0 {
		return l.onlyCase
	}
	return r.Categorical(l.weights)
}

// logSum returns log Σ e^v over the numbers v in logs.
func logSum(logs []float64) float64 {
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

// mixedOver returns the rules that hold in every case, with W_n and the shares of all cases in place
// of their own counts.
func (r *ruleset) mixedOver(s *cases) *ruleset {
	m := *r
	m.measured, m.measuredAt, m.shares = nil, nil, nil
	m.logCount = make([]float64, len(s.kept))
	for n := range m.logCount {
		m.logCount[n] = logSum(s.kept[n].logs)
	}
	if !slices.ContainsFunc(s.spaces, func(c *Space) bool { return c != nil && c.rules.shares != nil }) {
		return &m
	}
	for n := 1; n < len(m.logCount); n++ {
		m.shares = append(m.shares, s.share(n, m.logCount[n]))
	}
	return &m
}

// share returns the share of the pairs of n ingredients that a drawer draws from that keep all rules,
// given log W_n. The errors of the cases are taken as independent.
func (s *cases) share(n int, logW float64) Share {
	all := Share{N: n, Exact: true, Counted: true}
	drawn, squares := logSum(s.drawable[n].logs), 0.0
	for k, c := range s.spaces {
		if c == nil || n > c.MaxUsed() || c.rules.shares == nil {
			continue
		}
		one := c.rules.shares[n-1]
		all.Exact, all.Counted = all.Exact && one.Exact, all.Counted && one.Counted
		if one.SE > 0 {
			e := float64(one.SE * portable.Exp(s.drawable[n].logs[k]-drawn))
			squares += float64(e * e)
		}
	}
	if logW > negInf {
		all.Estimate, all.SE = portable.Exp(logW-drawn), math.Sqrt(squares)
	}
	return all
}

// lawErrorsOfShares returns the standard error of each P(n) that follows from those of the shares,
// taken as independent. With e_n the relative error of W_n it is, to first order,
//
//	P(n)·sqrt((1 − 2P(n))·e_n² + Σ_m P(m)²·e_m²).
func (r *ruleset) lawErrorsOfShares(p []float64) []float64 {
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

// tiedRulesName stands for the rules of a case where properties have names.
const tiedRulesName = "rules with conditions"

// LogScore returns 0 where the rules of the case of x are kept and −Inf elsewhere.
func (s *cases) LogScore(x *Composition) float64 {
	space := s.spaces[s.caseOf(x)]
	if space == nil {
		return negInf
	}
	return space.rules.LogScore(x)
}

// Scorer returns a scorer of x.
func (s *cases) Scorer(x *Composition) Scorer {
	return &caseScorer{s: s, x: x, scorers: make([]*ruleScorer, len(s.spaces))}
}

// A caseScorer scores the rules of the case that its composition is in. Only the scorer of that case
// follows the composition.
type caseScorer struct {
	s       *cases
	x       *Composition
	scorers []*ruleScorer // by case; nil until it is needed
	active  *ruleScorer   // the scorer of the composition's case; nil where the case allows nothing
	current int
	scores  []float64 // scratch of Values
}

// scorer returns the scorer of case k, nil if the case allows nothing.
func (c *caseScorer) scorer(k int) *ruleScorer {
	if space := c.s.spaces[k]; c.scorers[k] == nil && space != nil {
		c.scorers[k] = space.rules.scorer(c.x)
	}
	return c.scorers[k]
}

// Reset takes over a composition that has been set anew.
func (c *caseScorer) Reset() {
	c.current = c.s.caseOf(c.x)
	if c.active = c.scorer(c.current); c.active != nil {
		c.active.Reset()
	}
}

// LogScore returns 0 where the rules of the case are kept, else −Inf.
func (c *caseScorer) LogScore() float64 {
	if c.active == nil {
		return negInf
	}
	return c.active.LogScore()
}

// Line adds the scores of a line within the case.
func (c *caseScorer) Line(i, j int, p *Pieces) {
	if c.active == nil {
		p.Add(0, negInf)
		return
	}
	c.active.Line(i, j, p)
}

// Moved takes over a move along a line.
func (c *caseScorer) Moved(i, j int) {
	if c.active != nil {
		c.active.Moved(i, j)
	}
}

// Values adds the score of each value of condition k, the others being as they are.
func (c *caseScorer) Values(k int, p *Pieces) {
	of := &c.s.classesOf[k]
	base := c.current - c.s.stride[k]*of.classOf(int(c.x.conditions[k]))
	scores := slices.Grow(c.scores[:0], c.s.classes[k])[:c.s.classes[k]]
	c.scores = scores
	for class := range scores {
		number := base + c.s.stride[k]*class
		scores[class] = negInf
		if s := c.scorer(number); s != nil {
			if number != c.current {
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

// ConditionSet takes over a new value of a condition.
func (c *caseScorer) ConditionSet(int) { c.Reset() }
