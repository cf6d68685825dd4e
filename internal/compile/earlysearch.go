package compile

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/search"
	"kir/mcmc"
)

// earlySearchLines is the number of lines that EarlyRecipes scores. A line is all ways in which two ingredients
// of a composition can share their joint amount.
const earlySearchLines = 2000

// EarlyRecipes searches for good recipes before the compositions are counted, in a space with approximate
// counts. It returns the problem with that space, and the recipes from best to worst. The results are nil if
// the counts are already known, if the problem has conditions or errors, or if a program scores the problem.
// Errors in the problem are not returned here; [Compilation.Finish] returns them.
func (c *Compilation) EarlyRecipes(ctx context.Context) (*Problem, []search.Found, error) {
	if c.pendingCount == nil || c.runsPrograms || len(c.problem.Conditions) > 0 || len(c.loader.diagnostics.All) > 0 {
		return nil, nil, nil
	}
	rough := c.pendingCount.unfinishedCount.RoughSpace()
	if rough == nil {
		return nil, nil, nil
	}
	if c.loader.modelCache == nil {
		c.loader.modelCache = &ModelCache{} // models that are learnt here are learnt once
	}
	p, err := c.approximateProblem(ctx, rough)
	if p == nil || err != nil {
		return nil, nil, err
	}
	q, err := p.SearchQuestion()
	if err != nil {
		return nil, nil, ctx.Err()
	}
	found, err := search.Best(ctx, p.Target, search.Options{
		Evaluations: earlySearchLines, Seed: p.Sampler.Seed, Workers: c.options.Workers,
		Starts: q.Known, Least: q.Least, Most: q.Most, Niche: q.Niche, Refuse: q.Refuse,
	})
	if err != nil {
		return nil, nil, ctx.Err()
	}
	return p, found.Archive.Best(), nil
}

// approximateProblem compiles the properties for a space with approximate counts. Each property with a positive
// weight becomes an objective with weight 1. It returns nil if there is no such property, or if a property has
// errors.
func (c *Compilation) approximateProblem(ctx context.Context, rough *mcmc.Space) (*Problem, error) {
	own := *c.loader
	own.Warnings, own.diagnostics, own.notify, own.progress, own.space = slices.Clone(own.Warnings), &config.Diagnostics{File: c.problem.fileProblem.Root.File, Root: c.problem.fileProblem.Root}, nil, nil, rough
	own.Files = &yaml.Files{Dir: own.Files.Dir, Allow: own.Files.Allow, OnRead: func(string, []byte, int64) {}}
	p := *c.problem
	var err error
	if p.Properties, err = compileProperties(ctx, &own, p.fileProblem.Properties); err != nil || len(own.diagnostics.All) > 0 {
		return nil, ctx.Err()
	}
	var objectives []mcmc.Objective
	for _, w := range p.Properties {
		if w.Learning == nil && w.Weight > 0 {
			objectives = append(objectives, mcmc.Objective{Name: w.Name, Property: w.mcmcProperty, Weight: 1})
		}
	}
	if len(objectives) == 0 {
		return nil, nil
	}
	if p.Target, err = mcmc.NewTarget(rough, own.sparsityLaw, objectives...); err != nil {
		return nil, ctx.Err()
	}
	if err := p.applyPredictedLimits(ctx, &own.readContext); err != nil {
		return nil, ctx.Err()
	}
	return &p, nil
}
