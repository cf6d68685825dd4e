package assemble

import (
	"context"

	"kir/internal/problem"
	"kir/internal/run"
)

// Spec returns the run's spec for a problem. The caller sets the path of the problem file, since it
// knows the run's directory.
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

// Kernel returns a function that chooses by trials the kernel of a problem that names none. It
// passes the advice to told, which can explain the choice.
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
