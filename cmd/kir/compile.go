package main

import (
	"context"
	"errors"

	"kir/internal/compile"
	"kir/internal/report/assemble"
	"kir/internal/run"
)

// compileProblem compiles a problem file and chooses the kernel of its chains, that is, their rule of moving.
// If printEarly is true, it prints a first recipe while it is still counting the possible compositions.
func compileProblem(ctx context.Context, file string, d *spinner, printEarly bool, o compile.Options) (*compile.Problem, error) {
	c, err := compile.Begin(ctx, file, o)
	if err != nil {
		return nil, err
	}
	if printEarly {
		rough, best, err := c.EarlyRecipes(ctx)
		if err != nil {
			return nil, err
		}
		if len(best) > 0 {
			d.printMessage(recipeText(best[0].Score(), best[0].Parts, rough))
		}
	}
	p, err := c.Finish(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := chooseKernel(ctx, p, d); err != nil {
		if closing := p.Close(); closing != nil {
			err = errors.Join(err, closing)
		}
		return nil, err
	}
	return p, nil
}

// chooseKernel calls [assemble.ChooseKernel], which may make short runs to choose the kernel. While they last,
// it shows that this work is in progress.
func chooseKernel(ctx context.Context, p *compile.Problem, d *spinner) (*run.Advice, error) {
	if p.KernelChosen {
		d.beginWork("trying sampling algorithms")
	}
	return assemble.ChooseKernel(ctx, p)
}
