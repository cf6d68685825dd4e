package compile

import (
	"context"
	"slices"

	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/rule"
)

// AllRules returns the rules, and behind them those that depend on conditions.
func (p *Problem) AllRules() []Rule { return slices.Concat(p.Rules, p.TiedRules) }

// RuleName returns the text of rule k of [Problem.AllRules] and its line.
func (p *Problem) RuleName(k int) string {
	r := &p.AllRules()[k]
	return inputerr.Quote(r.Text) + " (" + lineOf(r.At, p.lawNode) + ")"
}

// SparsityName returns the name of the sparsity law and its line.
func (p *Problem) SparsityName() string { return "the sparsity (" + lineOf(p.lawNode, p.lawNode) + ")" }

// RelaxedTarget returns a target without properties and with only some of the rules, numbered as in
// [Problem.AllRules], to show what a rule excludes. With anySize it allows any number of ingredients. A limit of what a
// property predicts counts as a rule, except of a property that a campaign learns. The values of conditions are those
// that may be offered under all rules.
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
	law := p.law
	if anySize {
		law = mcmc.Uniform(1, min(set.Ingredients, set.Total))
	}
	space, err := mcmc.NewSpace(set.Ingredients, set.Total)
	counting := mcmc.Counting{Law: law, Seed: p.Sampler.Seed}
	if err == nil && len(set.Rules) > 0 {
		space, err = mcmc.NewRuledSpace(ctx, set, counting)
	}
	if err == nil && len(p.Conditions) > 0 {
		space, err = p.joinRelaxed(ctx, space, set, tied, counting)
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

// joinRelaxed returns a space with the conditions and some of the rules that depend on them. Where the rules leave no
// composition the case is left out.
func (p *Problem) joinRelaxed(ctx context.Context, space *mcmc.Space, set rule.Set, tied []Rule, counting mcmc.Counting) (*mcmc.Space, error) {
	cases := newConditionCases(p.Conditions, tied)
	if len(cases.tied) == 0 {
		return mcmc.WithConditions(space, cases.conditions, nil)
	}
	spaces := make([]*mcmc.Space, cases.count())
	for number := range spaces {
		rules, forbidden := cases.rulesOf(p.Conditions, number)
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
