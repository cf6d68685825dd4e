package problem

import (
	"context"

	"kir/internal/fault"
	"kir/mcmc"
	"kir/rule"
)

// RuleName names a rule of the problem and the line on which it stands.
func (p *Problem) RuleName(k int) string {
	r := &p.Rules[k]
	return fault.Quote(r.Text) + " (" + lineOf(r.at, p.lawNode) + ")"
}

// SparsityName names what the problem asks of the number of ingredients, and where.
func (p *Problem) SparsityName() string { return "the sparsity (" + lineOf(p.lawNode, p.lawNode) + ")" }

// RelaxedTarget returns the target of the problem without properties that only has some of its rules
// and, if so asked, takes any number of ingredients: to see what a rule leaves out. A limit of what a property predicts counts as a rule;
// one of what a campaign learns is none of the target.
func (p *Problem) RelaxedTarget(ctx context.Context, keeps func(rule int) bool, anySize bool) (*mcmc.Target, error) {
	set := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total}
	var bounds []mcmc.Bound
	all := p.Target.Bounds()
	for k, r := range p.Rules {
		if r.predicted == nil {
			if keeps(k) {
				set.Rules = append(set.Rules, r.Rules...)
			}
			continue
		}
		if w := p.propertyNamed(r.predicted.property); w == nil || w.Learning != nil {
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
