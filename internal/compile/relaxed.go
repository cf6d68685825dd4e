package compile

import (
	"context"
	"slices"

	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/rule"
)

// AllRules returns all rules of the problem. The last rules are those that hold only for some values of
// conditions.
func (p *Problem) AllRules() []Rule { return slices.Concat(p.Rules, p.TiedRules) }

// RuleName returns the text and the line of the rule with index k in [Problem.AllRules].
func (p *Problem) RuleName(k int) string {
	r := &p.AllRules()[k]
	return inputerr.QuoteSentence(r.Text) + " (" + lineReference(r.Node, p.sparsityNode) + ")"
}

// SparsityName returns a text that names the sparsity law, with its line in the file.
func (p *Problem) SparsityName() string {
	return "the sparsity (" + lineReference(p.sparsityNode, p.sparsityNode) + ")"
}

// RelaxedTarget returns a target without properties and with some of the rules, to show how much single rules
// exclude. The function keeps reports whether the target has the rule with a given index in [Problem.AllRules].
// If anySize is true, any number of ingredients is allowed. A limit of a prediction counts as a rule, unless a
// campaign learns the property. Conditions have the values that may be offered if all rules hold.
func (p *Problem) RelaxedTarget(ctx context.Context, keeps func(rule int) bool, anySize bool) (*mcmc.Target, error) {
	set := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total}
	var tied []Rule
	for k, r := range p.TiedRules {
		if keeps(len(p.Rules) + k) {
			tied = append(tied, r)
		}
	}
	var bounds []mcmc.Bound
	all := p.Target.Bounds()
	for k, r := range p.Rules {
		if r.Predicted == nil {
			if keeps(k) {
				set.Rules = append(set.Rules, r.Rules...)
			}
			continue
		}
		if w := p.propertyNamed(r.Predicted.Property); w == nil || w.Learning != nil {
			continue
		}
		if keeps(k) {
			bounds = append(bounds, all[0])
		}
		all = all[1:]
	}
	law := p.sparsityLaw
	if anySize {
		law = mcmc.Uniform(1, min(set.Ingredients, set.Total))
	}
	space, err := mcmc.NewSpace(set.Ingredients, set.Total)
	counting := mcmc.CountingOptions{Law: law, Seed: p.Sampler.Seed}
	if err == nil && len(set.Rules) > 0 {
		space, err = mcmc.NewRuledSpace(ctx, set, counting)
	}
	if err == nil && len(p.Conditions) > 0 {
		space, err = p.addConditionsToRelaxedSpace(ctx, space, set, tied, counting)
	}
	if err != nil {
		return nil, err
	}
	t, err := mcmc.NewTarget(space, law)
	if err != nil || len(bounds) == 0 {
		return t, err
	}
	return t.WithBounds(bounds...)
}

// addConditionsToRelaxedSpace returns a space with conditions and with the rules tied, which hold only for some
// values of the conditions. It leaves out combinations of values for which no composition keeps the rules.
func (p *Problem) addConditionsToRelaxedSpace(ctx context.Context, space *mcmc.Space, set rule.Set, tied []Rule, counting mcmc.CountingOptions) (*mcmc.Space, error) {
	cases := newConditionCases(p.Conditions, tied)
	if len(cases.tiedRules) == 0 {
		return mcmc.WithConditions(space, cases.conditions, nil)
	}
	spaces := make([]*mcmc.Space, cases.caseCount())
	for number := range spaces {
		rules, forbidden := cases.rulesOfCase(p.Conditions, number)
		if forbidden != nil {
			continue
		}
		of := set
		of.Rules = slices.Clone(set.Rules)
		for _, r := range rules {
			of.Rules = append(of.Rules, r.Rules...)
		}
		one, err := mcmc.NewRuledSpace(ctx, of, counting)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			spaces[number] = one
		}
	}
	if len(set.Rules) == 0 {
		var err error
		if space, err = mcmc.NewRuledSpace(ctx, set, counting); err != nil {
			return nil, err
		}
	}
	return mcmc.WithConditions(space, cases.conditions, spaces)
}
