package compile

import (
	"errors"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/mcmc"
)

// maxMixtureProbabilities bounds the work for a mixture of distributions of the number of ingredients: the number of
// distributions in the mixture times the number of probabilities of each.
const maxMixtureProbabilities = 1 << 28

// compileSparsity returns the sparsity law, which is the distribution of the number of ingredients. It also
// returns the YAML node of the law, for the position of later errors.
func (s *loader) compileSparsity(file *config.Problem, space *mcmc.Space) (mcmc.Sparsity, *yaml.Node, error) {
	book := s.recipesForRules()
	law, n := file.Law, file.LawNode
	switch {
	case file.LawError != nil:
		return mcmc.Sparsity{}, n, file.LawError
	case n == nil && book == nil:
		return mcmc.Sparsity{}, nil, yaml.Hint(file.Root.Errorf("the problem has no sparsity, the law for the number of ingredients"), "add one, such as sparsity: {uniform: [2, 5]}")
	case n == nil:
		n = file.Root.Scalar("recipes")
		law = &config.Law{Kind: config.RecipesLaw, Node: n, Power: 1}
	}
	y, err := compileLaw(law, n, book, space)
	return y, n, err
}

// compileLaw returns the sparsity law at the node n. It returns an error if no possible number of ingredients
// has a positive probability. The parameter book has the known recipes, or is nil.
func compileLaw(law *config.Law, n *yaml.Node, book *dataset.Book, space *mcmc.Space) (mcmc.Sparsity, error) {
	laws := 0
	y, err := newSparsity(law, book, &laws)
	if err != nil {
		return y, err
	}
	if laws > maxMixtureProbabilities/space.MaxUsed() {
		return y, yaml.Hint(n.Errorf("%d laws of up to %d ingredients are too many to mix", laws, space.MaxUsed()), "write the mixture as a table")
	}
	if _, err := y.On(space); err != nil {
		e := n.Errorf("%v", err)
		if errors.Is(err, mcmc.ErrNoMass) {
			e = yaml.Hint(n.Errorf("the sparsity law has no mass on any possible number of ingredients"), "with %s and a total of %d these are 1 to %d", inputerr.Count(space.N(), "ingredient"), space.Total(), space.MaxUsed())
		}
		return y, e
	}
	return y, nil
}

// newSparsity converts a sparsity law of the problem file to a sparsity law of package mcmc. It adds the number
// of laws to *lawCount: 1, and for a mixture also the number of its components.
func newSparsity(law *config.Law, book *dataset.Book, lawCount *int) (y mcmc.Sparsity, err error) {
	*lawCount++
	switch law.Kind {
	case config.RecipesLaw:
		y, err = recipesLaw(law.Node, book)
	case config.TableLaw:
		y = mcmc.Table(law.Table)
	case config.UniformLaw:
		y = mcmc.Uniform(law.First, law.Last)
	case config.NormalLaw:
		y = mcmc.Normal(law.Mean, law.SD)
	case config.ExponentialLaw:
		y = mcmc.Exponential(law.Rate)
	case config.MixtureLaw:
		components := make([]mcmc.Component, len(law.Mixture))
		for k := range law.Mixture {
			components[k].Weight = law.Mixture[k].Weight
			if components[k].Law, err = newSparsity(&law.Mixture[k], book, lawCount); err != nil {
				return y, err
			}
		}
		y = mcmc.Mixture(components...)
	}
	if err == nil && law.Power != 1 {
		y = mcmc.Power(y, law.Power)
	}
	return y, err
}

// recipesLaw returns the distribution of the number of ingredients in the known recipes.
func recipesLaw(n *yaml.Node, book *dataset.Book) (mcmc.Sparsity, error) {
	if book == nil {
		return mcmc.Sparsity{}, yaml.Hint(n.Errorf("the sparsity law is that of the recipes, and the problem has none"), "add recipes: a CSV file, or write a law such as {uniform: [2, 5]}")
	}
	weights := make(map[int]float64)
	for size, count := range book.RecipeCountsBySize() {
		if count > 0 {
			weights[size] = float64(count)
		}
	}
	return mcmc.Table(weights), nil
}
