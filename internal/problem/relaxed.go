package problem

import (
	"context"

	"kir/internal/inputerr"
	"kir/mcmc"
	"kir/rule"
)

// RuleName returns the text of rule k and its line.
func (p *Problem) RuleName(k int) string {
	r := &p.Rules[k]
	return inputerr.Quote(r.Text) + " (" + lineOf(r.At, p.lawNode) + ")"
}

// SparsityName returns the name of the sparsity law and its line.
func (p *Problem) SparsityName() string { return "the sparsity (" + lineOf(p.lawNode, p.lawNode) + ")" }

// RelaxedTarget returns a target without properties and with only some of the rules, to show what a rule
// excludes. With anySize it allows any number of ingredients. A limit of what a property predicts counts as
// a rule, except of a property that a campaign learns.
func (p *Problem) RelaxedTarget(ctx context.Context, keeps func(rule int) bool, anySize bool) (*mcmc.Target, error) {
	set := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total}
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
	if err == nil && len(set.Rules) > 0 {
		space, err = mcmc.NewRuledSpace(ctx, set, mcmc.Counting{Law: law, Seed: p.Sampler.Seed})
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
