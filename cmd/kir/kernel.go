package main

import (
	"context"

	"kir/internal/problem"
	"kir/internal/run"
	"kir/mcmc"
)

// kernelChooser returns what chooses the kernel of a problem that leaves it to
// kir. It keeps the advice where it can be told of.
func kernelChooser(advice **run.Advice) func(context.Context, *problem.Problem) (string, error) {
	return func(ctx context.Context, p *problem.Problem) (string, error) {
		a, err := run.Recommend(ctx, p.Target, p.Sampler, runsPrograms(p))
		if err != nil {
			return "", err
		}
		*advice = a
		return a.Kernel, nil
	}
}

// kernelNames are the kernels that a flag may name.
func kernelNames() []string { return append([]string{"auto"}, mcmc.KernelNames()...) }
