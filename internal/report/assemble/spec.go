package assemble

import (
	"context"

	"kir/internal/compile"
	"kir/internal/run"
)

// Spec returns the spec of a run for a problem. The caller sets the path of the problem file, since
// only the caller knows the run's directory.
func Spec(p *compile.Problem, version string) (*run.Spec, error) {
	spec := &run.Spec{
		Name:            p.Name,
		ProblemPath:     p.File,
		Ingredients:     p.Ingredients,
		Target:          p.Target,
		Settings:        p.Sampler,
		TimeLimit:       p.Time,
		ResolvedProblem: p.Resolved,
		Version:         version,
	}
	for _, c := range p.Conditions {
		spec.Conditions = append(spec.Conditions, run.Condition{Name: c.Name, Unit: c.Unit, Numbers: c.Numbers, Categories: c.Categories})
	}
	for _, in := range p.Inputs {
		spec.Inputs = append(spec.Inputs, run.Input(in))
	}
	if p.Book != nil {
		spec.IsKnownSet = func(ingredients []int) bool {
			_, known := p.Book.RecipeWithSet(ingredients)
			return known
		}
	}
	var err error
	spec.Question, err = p.SearchQuestion()
	return spec, err
}

// ChooseKernel chooses a kernel (sampling algorithm) by short trial runs, if the problem file names
// none. It sets the kernel in the problem and returns the advice. If the problem file names a
// kernel, it does nothing and returns nil.
func ChooseKernel(ctx context.Context, p *compile.Problem) (*run.Advice, error) {
	if !p.KernelChosen {
		return nil, nil
	}
	a, err := run.Recommend(ctx, p.Target, p.Sampler, p.RunsPrograms())
	if err != nil {
		return nil, p.Explain(err)
	}
	return a, p.UseKernel(a.Kernel)
}
