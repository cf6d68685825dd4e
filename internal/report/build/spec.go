package build

import (
	"context"

	"kir/internal/problem"
	"kir/internal/run"
)

// Spec returns what package run needs to know of a problem. Where the problem file lies
// is left to the caller, who knows where the run will be.
func Spec(p *problem.Problem, version string) (*run.Spec, error) {
	spec := &run.Spec{
		Name:        p.Name,
		Problem:     p.File,
		Ingredients: p.Ingredients,
		Target:      p.Target,
		Settings:    p.Sampler,
		Time:        p.Time,
		Resolved:    p.Resolved,
		Version:     version,
	}
	for _, in := range p.Inputs {
		spec.Inputs = append(spec.Inputs, run.Input(in))
	}
	if p.Book != nil {
		spec.Known = func(ingredients []int) bool {
			_, known := p.Book.RecipeWithSet(ingredients)
			return known
		}
	}
	var err error
	spec.Question, err = p.SearchQuestion()
	return spec, err
}

// Kernel returns what chooses the kernel of a problem that names none, by trials. It
// hands the advice on, with which the choice can be explained.
func Kernel(told func(*run.Advice)) func(context.Context, *problem.Problem) (string, error) {
	return func(ctx context.Context, p *problem.Problem) (string, error) {
		a, err := run.Recommend(ctx, p.Target, p.Sampler, p.RunsPrograms())
		if err != nil {
			return "", err
		}
		if told != nil {
			told(a)
		}
		return a.Kernel, nil
	}
}
