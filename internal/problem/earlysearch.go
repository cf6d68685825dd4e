package problem

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/search"
	"kir/mcmc"
)

// firstEvaluations is the number of lines that firstLook scores.
const firstEvaluations = 2000

// firstLook searches for good recipes before the problem is fully read, in a space with approximate counts.
// It reads the properties itself and ignores their errors: the later full reading reports them.
func (s *loader) firstLook(ctx context.Context, p *Problem, root *yaml.Node, space *mcmc.Space, law mcmc.Sparsity, show func(*Problem, []search.Found)) error {
	own := *s
	own.Warnings, own.diagnostics, own.notify, own.progress, own.space, own.law = slices.Clone(s.Warnings), &config.Diagnostics{File: root.File, Root: root}, nil, nil, space, law
	own.Files = &yaml.Files{Dir: s.Files.Dir, Allow: s.Files.Allow, OnRead: func(string, []byte, int64) {}}
	look := *p
	var err error
	if look.Properties, err = readProperties(ctx, &own, root.Get("properties")); err != nil || len(own.diagnostics.All) > 0 {
		return ctx.Err()
	}
	var objectives []mcmc.Objective
	for _, w := range look.Properties {
		if w.Learning == nil && w.Weight > 0 {
			objectives = append(objectives, mcmc.Objective{Name: w.Name, Property: w.property, Weight: 1})
		}
	}
	if len(objectives) == 0 {
		return nil
	}
	if look.Target, err = mcmc.NewTarget(space, law, objectives...); err != nil {
		return ctx.Err()
	}
	if err := look.applyPredictedLimits(ctx, &own.readContext); err != nil {
		return ctx.Err()
	}
	q, err := look.SearchQuestion()
	if err != nil {
		return ctx.Err()
	}
	found, err := search.Best(ctx, look.Target, search.Options{
		Evaluations: firstEvaluations, Seed: p.Sampler.Seed, Workers: s.workers,
		Starts: q.Known, Least: q.Least, Most: q.Most, Niche: q.Niche, Refuse: q.Refuse,
	})
	if err != nil {
		return ctx.Err()
	}
	if best := found.Archive.Best(); len(best) > 0 {
		show(&look, best)
	}
	return nil
}
