package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/constraint/conflict"
	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/rule"
)

// A Condition is a quantity that a trial sets in addition to the recipe, such as a temperature. It lists the
// values that may be offered: the values in the file that no rule forbids, or the one value that the file
// fixes. Package mcmc refers to a value by its index in this list.
type Condition struct {
	Name       string
	Unit       string    // unit of the numbers; empty for categories
	Given      bool      // whether the file fixes the value by the key "given"
	Numbers    []float64 // offered values in ascending order; nil for categories
	Categories []string  // offered values; nil for numbers

	fileCondition   *config.Condition // the condition as the file describes it
	listedIndices   []int             // item v is the index, in the list of the file, of the offered value with index v
	weights         []float64         // item v is the relative probability of the offered value with index v before objectives count
	usualValueIndex int32             // index of the offered value that replaces an unknown value; see [Condition.chooseUsualValue]
}

// Len returns the number of values that may be offered.
func (c *Condition) Len() int { return len(c.listedIndices) }

// Text returns the text of the offered value with index v, with its unit.
func (c *Condition) Text(v int) string { return c.fileCondition.ValueText(c.listedIndices[v]) }

// Value returns the offered value with index v: a float64 or a string.
func (c *Condition) Value(v int) any {
	if c.Numbers != nil {
		return c.Numbers[v]
	}
	return c.Categories[v]
}

// Index returns the index of an offered value, which is a float64 or a string. It returns −1 if the value is
// not offered.
func (c *Condition) Index(value any) int {
	for v := range c.Len() {
		if c.Value(v) == value {
			return v
		}
	}
	return -1
}

// listedConditions returns the conditions of the file. It treats all values that the file lists as offered.
func (s *loader) listedConditions() (all []Condition) {
	for k := range s.Conditions {
		of := &s.Conditions[k]
		c := Condition{Name: of.Name, Unit: of.Unit, Given: of.Given, Numbers: of.Numbers, Categories: of.Categories, fileCondition: of, weights: of.Weights}
		for v := range of.Len() {
			c.listedIndices = append(c.listedIndices, v)
		}
		all = append(all, c)
	}
	return all
}

// compileConditions compiles the conditions of the file. It leaves out every value that a rule forbids
// unconditionally, that is, for all recipes and for all values of the other conditions.
func (s *loader) compileConditions(tied []Rule) (all []Condition, err error) {
	for k := range s.Conditions {
		of := &s.Conditions[k]
		c := Condition{Name: of.Name, Unit: of.Unit, Given: of.Given, fileCondition: of}
		for v := range of.Len() {
			if of.Given && !(of.IsNumeric() && of.Numbers[v] == of.GivenNumber || !of.IsNumeric() && of.Categories[v] == of.GivenCategory) {
				continue
			}
			if by := forbiddingRule(tied, k, v); by != nil {
				if of.Given {
					return nil, yaml.Hint(by.Node.Errorf("the rule forbids the given value of %s, %s", of.Name, of.ValueText(v)), "give another value, or change the rule")
				}
				continue
			}
			c.listedIndices = append(c.listedIndices, v)
			if of.IsNumeric() {
				c.Numbers = append(c.Numbers, of.Numbers[v])
			} else {
				c.Categories = append(c.Categories, of.Categories[v])
			}
			weight := 1.0
			if of.Weights != nil {
				weight = of.Weights[v]
			}
			c.weights = append(c.weights, weight)
		}
		if len(c.listedIndices) == 0 {
			at := of.KeyNode
			for _, r := range tied {
				if r.Forbids && len(r.ConditionValues) == 1 && r.ConditionValues[0].Condition == k {
					at = r.Node
				}
			}
			return nil, yaml.Hint(at.Errorf("the rules leave %s no value", inputerr.Quote(of.Name)), "loosen one of them; the values are %s to %s", of.ValueText(0), of.ValueText(of.Len()-1))
		}
		all = append(all, c)
	}
	return all, nil
}

// forbiddingRule returns the rule that forbids the value with index v of the condition with index k for all
// recipes and for all values of the other conditions. It returns nil if there is no such rule.
func forbiddingRule(tied []Rule, k, v int) *Rule {
	for n := range tied {
		if r := &tied[n]; r.Forbids && len(r.ConditionValues) == 1 && r.ConditionValues[0].Condition == k && r.ConditionValues[0].Allowed[v] {
			return r
		}
	}
	return nil
}

// separateTiedRules divides rules into two lists. Plain rules hold for all values of the conditions. Tied rules
// hold only for some values.
func separateTiedRules(rules []Rule) (plain, tied []Rule) {
	for _, r := range rules {
		if len(r.ConditionValues) > 0 {
			tied = append(tied, r)
		} else {
			plain = append(plain, r)
		}
	}
	return plain, tied
}

// A conditionCases lists the cases that must be counted separately, because tied rules hold only for some
// values of conditions. Two values of a condition are in the same class if every tied rule treats them equally.
// A case consists of one class of each condition; see [mcmc.WithConditions].
type conditionCases struct {
	conditions           []mcmc.Condition
	classCounts          []int   // item k is the number of classes of the values of condition k
	classRepresentatives [][]int // item [k][c] is the index of one offered value in class c of condition k
	tiedRules            []Rule  // rules that hold only for some values of conditions; rules that just forbid a value are left out
}

// newConditionCases divides the offered values of each condition into classes. Every tied rule treats all
// values of a class equally.
func newConditionCases(all []Condition, tied []Rule) *conditionCases {
	c := &conditionCases{}
	for _, r := range tied {
		if !r.Forbids || len(r.ConditionValues) > 1 {
			c.tiedRules = append(c.tiedRules, r)
		}
	}
	for k := range all {
		of := &all[k]
		one := mcmc.Condition{Name: of.Name, Weights: of.weights}
		known := make(map[string]int)
		var first []int // value of each class
		for v, listed := range of.listedIndices {
			var b strings.Builder
			for _, r := range c.tiedRules {
				for _, w := range r.ConditionValues {
					if w.Condition == k {
						fmt.Fprint(&b, w.Allowed[listed], " ")
					}
				}
			}
			class, ok := known[b.String()]
			if !ok {
				class = len(first)
				known[b.String()], first = class, append(first, v)
			}
			one.ValueClasses = append(one.ValueClasses, class)
		}
		c.conditions = append(c.conditions, one)
		c.classCounts, c.classRepresentatives = append(c.classCounts, len(first)), append(c.classRepresentatives, first)
	}
	return c
}

// caseCount returns the number of cases.
func (c *conditionCases) caseCount() int {
	number := 1
	for _, n := range c.classCounts {
		number *= n
	}
	return number
}

// rulesOfCase returns the tied rules that hold in the case with the given index. If one of these rules forbids
// the case, it returns only that rule, as the result forbidden.
func (c *conditionCases) rulesOfCase(all []Condition, caseIndex int) (rules []Rule, forbidden *Rule) {
	values := make([]int, len(all)) // of the case, as the file lists them
	for k := len(all) - 1; k >= 0; k-- {
		values[k] = all[k].listedIndices[c.classRepresentatives[k][caseIndex%c.classCounts[k]]]
		caseIndex /= c.classCounts[k]
	}
	for n := range c.tiedRules {
		r := &c.tiedRules[n]
		if slices.ContainsFunc(r.ConditionValues, func(w config.ConditionValues) bool { return !w.Allowed[values[w.Condition]] }) {
			continue
		}
		if r.Forbids {
			return nil, r
		}
		rules = append(rules, *r)
	}
	return rules, nil
}

// maxConditionCases is the maximum number of cases of [conditionCases].
const maxConditionCases = 1024

// addConditionsToSpace returns a space of compositions with values of the conditions. It has the combinations
// that the rules allow. The parameter base is the space without conditions. The compositions of each case of
// [conditionCases] are counted separately.
func (s *loader) addConditionsToSpace(ctx context.Context, base *mcmc.Space, all []Condition, plain, tied []Rule, counting mcmc.CountingOptions, law *yaml.Node) (*mcmc.Space, error) {
	cases := newConditionCases(all, tied)
	if len(cases.tiedRules) == 0 {
		return mcmc.WithConditions(base, cases.conditions, nil)
	}
	first := cases.tiedRules[0].Node
	if n := cases.caseCount(); n > maxConditionCases {
		return nil, yaml.Hint(first.Errorf("rules tell %d combinations of conditions apart", n), "at most %d are possible: write fewer rules, or such as tell fewer values apart", maxConditionCases)
	}
	counted := make(map[string]*mcmc.Space) // by the rules that hold
	spaces := make([]*mcmc.Space, cases.caseCount())
	var reason error
	possible := false
	for number := range spaces {
		rules, forbidden := cases.rulesOfCase(all, number)
		if forbidden != nil {
			continue
		}
		var key strings.Builder
		for _, r := range rules {
			fmt.Fprintf(&key, "%d:%d:%s\n", r.Node.Line, r.Node.Column, r.Text)
		}
		space, known := counted[key.String()]
		if !known {
			var err error
			if space, err = s.countCase(ctx, slices.Concat(plain, rules), counting, law); err != nil {
				var conflicting *ConflictError
				if !errors.As(err, &conflicting) {
					return nil, err
				}
				reason = err
			}
			counted[key.String()] = space
		}
		spaces[number] = space
		possible = possible || space != nil
	}
	if !possible {
		if reason != nil {
			return nil, reason
		}
		return nil, yaml.Hint(first.Errorf("the rules allow no combination of conditions"), "loosen one of them")
	}
	if len(plain) == 0 {
		var err error
		if base, err = mcmc.NewRuledSpace(ctx, rule.Set{Ingredients: len(s.IngredientNames), Total: s.Total}, counting); err != nil {
			return nil, err
		}
	}
	return mcmc.WithConditions(base, cases.conditions, spaces)
}

// countCase counts the compositions that keep the given rules, which are the rules of one case of
// [conditionCases]. If the rules exclude one another, the error wraps a [ConflictError].
func (s *loader) countCase(ctx context.Context, rules []Rule, counting mcmc.CountingOptions, law *yaml.Node) (*mcmc.Space, error) {
	set := newRuleSet(&s.readContext, rules)
	plain, err := mcmc.NewSpace(len(s.IngredientNames), s.Total)
	if err != nil {
		return nil, err
	}
	sizes, err := counting.Law.On(plain)
	if err != nil {
		return nil, law.PlaceError(err)
	}
	lo, hi := sizes.Support()
	for n := lo; n <= hi; n++ {
		if sizes.P(n) > 0 {
			set.Used = append(set.Used, n)
		}
	}
	if len(set.Rules) > 0 {
		why, err := conflict.Explain(ctx, set.Set)
		if err != nil {
			return nil, set.placeError(err)
		}
		if why != nil {
			return nil, set.conflictError(why, law)
		}
	}
	space, err := mcmc.NewRuledSpace(ctx, set.Set, counting)
	if err != nil && len(set.problemRules) > 0 {
		return nil, set.placeError(err)
	}
	return space, err
}
