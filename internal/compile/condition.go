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

// A Condition is what a trial sets beside the recipe, with the values that may be offered: those of the file that no
// rule forbids, or the given one. mcmc knows the values by their index here.
type Condition struct {
	Name       string
	Unit       string
	Given      bool
	Numbers    []float64 // ascending; nil for categories
	Categories []string  // nil for numbers

	file    *config.Condition
	listed  []int // by value: its index in the file's list
	weights []float64
	usual   int32 // index of the value that an unknown one is taken for; see [Condition.setUsual]
}

// Len returns the number of values.
func (c *Condition) Len() int { return len(c.listed) }

// Text returns a value with its unit.
func (c *Condition) Text(v int) string { return c.file.ValueText(c.listed[v]) }

// Value returns a value: a float64 or a string.
func (c *Condition) Value(v int) any {
	if c.Numbers != nil {
		return c.Numbers[v]
	}
	return c.Categories[v]
}

// Index returns the index of a value, as [Condition.Value] returns it; −1 if there is none.
func (c *Condition) Index(value any) int {
	for v := range c.Len() {
		if c.Value(v) == value {
			return v
		}
	}
	return -1
}

// listedConditions returns the conditions of a file with all their values.
func (s *loader) listedConditions() (all []Condition) {
	for k := range s.Conditions {
		of := &s.Conditions[k]
		c := Condition{Name: of.Name, Unit: of.Unit, Given: of.Given, Numbers: of.Numbers, Categories: of.Categories, file: of, weights: of.Weights}
		for v := range of.Len() {
			c.listed = append(c.listed, v)
		}
		all = append(all, c)
	}
	return all
}

// compileConditions compiles the conditions of a file, without the values that the tied rules forbid whatever the
// recipe and the other conditions are.
func (s *loader) compileConditions(tied []Rule) (all []Condition, err error) {
	for k := range s.Conditions {
		of := &s.Conditions[k]
		c := Condition{Name: of.Name, Unit: of.Unit, Given: of.Given, file: of}
		for v := range of.Len() {
			if of.Given && !(of.IsNumeric() && of.Numbers[v] == of.GivenNumber || !of.IsNumeric() && of.Categories[v] == of.GivenCategory) {
				continue
			}
			if by := forbiddingRule(tied, k, v); by != nil {
				if of.Given {
					return nil, yaml.Hint(by.At.Errorf("the rule forbids the given value of %s, %s", of.Name, of.ValueText(v)), "give another value, or change the rule")
				}
				continue
			}
			c.listed = append(c.listed, v)
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
		if len(c.listed) == 0 {
			at := of.At
			for _, r := range tied {
				if r.Forbids && len(r.When) == 1 && r.When[0].Condition == k {
					at = r.At
				}
			}
			return nil, yaml.Hint(at.Errorf("the rules leave %s no value", inputerr.Quote(of.Name)), "loosen one of them; the values are %s to %s", of.ValueText(0), of.ValueText(of.Len()-1))
		}
		all = append(all, c)
	}
	return all, nil
}

// forbiddingRule returns the rule that forbids value v of condition k whatever else, nil if there is none.
func forbiddingRule(tied []Rule, k, v int) *Rule {
	for n := range tied {
		if r := &tied[n]; r.Forbids && len(r.When) == 1 && r.When[0].Condition == k && r.When[0].Allowed[v] {
			return r
		}
	}
	return nil
}

// splitTied divides rules into those that hold whatever the conditions are and those that depend on them.
func splitTied(rules []Rule) (plain, tied []Rule) {
	for _, r := range rules {
		if len(r.When) > 0 {
			tied = append(tied, r)
		} else {
			plain = append(plain, r)
		}
	}
	return plain, tied
}

// A conditionCases is the cases that tied rules divide the conditions into; see [mcmc.WithConditions].
type conditionCases struct {
	conditions []mcmc.Condition
	classes    []int // by condition: how many
	values     [][]int
	tied       []Rule // that depend on more than one value of one condition
}

// newConditionCases divides the values of conditions into classes of which every tied rule says the same.
func newConditionCases(all []Condition, tied []Rule) *conditionCases {
	c := &conditionCases{}
	for _, r := range tied {
		if !r.Forbids || len(r.When) > 1 {
			c.tied = append(c.tied, r)
		}
	}
	for k := range all {
		of := &all[k]
		one := mcmc.Condition{Name: of.Name, Weights: of.weights}
		known := make(map[string]int)
		var first []int // value of each class
		for v, listed := range of.listed {
			var b strings.Builder
			for _, r := range c.tied {
				for _, w := range r.When {
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
			one.Class = append(one.Class, class)
		}
		c.conditions = append(c.conditions, one)
		c.classes, c.values = append(c.classes, len(first)), append(c.values, first)
	}
	return c
}

// count returns the count of cases.
func (c *conditionCases) count() int {
	number := 1
	for _, n := range c.classes {
		number *= n
	}
	return number
}

// rulesOf returns the tied rules that hold in a case, and whether one of them forbids everything.
func (c *conditionCases) rulesOf(all []Condition, number int) (rules []Rule, forbidden *Rule) {
	values := make([]int, len(all)) // of the case, as the file lists them
	for k := len(all) - 1; k >= 0; k-- {
		values[k] = all[k].listed[c.values[k][number%c.classes[k]]]
		number /= c.classes[k]
	}
	for n := range c.tied {
		r := &c.tied[n]
		if slices.ContainsFunc(r.When, func(w config.ConditionValues) bool { return !w.Allowed[values[w.Condition]] }) {
			continue
		}
		if r.Forbids {
			return nil, r
		}
		rules = append(rules, *r)
	}
	return rules, nil
}

// maxConditionCases is the most combinations of values that tied rules may tell apart.
const maxConditionCases = 1024

// joinConditions returns the space of the recipes that the rules allow, with the conditions. base is the space without
// them. Each case of tied rules is counted by itself.
func (s *loader) joinConditions(ctx context.Context, base *mcmc.Space, all []Condition, plain, tied []Rule, counting mcmc.Counting, law *yaml.Node) (*mcmc.Space, error) {
	cases := newConditionCases(all, tied)
	if len(cases.tied) == 0 {
		return mcmc.WithConditions(base, cases.conditions, nil)
	}
	first := cases.tied[0].At
	if n := cases.count(); n > maxConditionCases {
		return nil, yaml.Hint(first.Errorf("rules tell %d combinations of conditions apart", n), "at most %d are possible: write fewer rules, or such as tell fewer values apart", maxConditionCases)
	}
	counted := make(map[string]*mcmc.Space) // by the rules that hold
	spaces := make([]*mcmc.Space, cases.count())
	var reason error
	possible := false
	for number := range spaces {
		rules, forbidden := cases.rulesOf(all, number)
		if forbidden != nil {
			continue
		}
		var key strings.Builder
		for _, r := range rules {
			fmt.Fprintf(&key, "%d:%d:%s\n", r.At.Line, r.At.Column, r.Text)
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
		if base, err = mcmc.NewRuledSpace(ctx, rule.Set{Ingredients: len(s.Names), Total: s.Total}, counting); err != nil {
			return nil, err
		}
	}
	return mcmc.WithConditions(base, cases.conditions, spaces)
}

// countCase counts the compositions of a case. It returns an error of input where the rules allow none.
func (s *loader) countCase(ctx context.Context, rules []Rule, counting mcmc.Counting, law *yaml.Node) (*mcmc.Space, error) {
	set := newRuleSet(&s.readContext, rules)
	plain, err := mcmc.NewSpace(len(s.Names), s.Total)
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
