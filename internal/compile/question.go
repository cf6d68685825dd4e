package compile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
	"kir/internal/search"
	"kir/mcmc"
	"kir/model"
	"kir/rule"
)

// KnownRecipes returns the known recipes in the order of the book, scaled to the total in whole units.
func (p *Problem) KnownRecipes() ([]*mcmc.Composition, error) {
	known := make([]*mcmc.Composition, len(p.scaledRecipes))
	for r, parts := range p.scaledRecipes {
		x, err := p.knownComposition(r, parts)
		if err != nil {
			return nil, fmt.Errorf("recipe %d: %w", r, err)
		}
		known[r] = x
	}
	return known, nil
}

// knownComposition returns the known recipe with index r as a composition. Each of its conditions has the
// offered value that is nearest to the value in the recipe.
func (p *Problem) knownComposition(r int, parts []mcmc.Part) (*mcmc.Composition, error) {
	x, err := mcmc.NewComposition(len(p.Ingredients), parts...)
	if err != nil || p.conditionTable == nil {
		return x, err
	}
	values := make([]int, len(p.Conditions))
	for k, v := range p.conditionTable.nearestOfferedIndices[r] {
		values[k] = int(v)
	}
	return x.WithConditions(values...)
}

// SearchQuestion returns the input of a search for the best recipes of the problem.
func (p *Problem) SearchQuestion() (*search.Question, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	q := &search.Question{Target: p.Target, Effort: p.Search.Effort, Known: known, Niche: p.newNiche(known)}
	if len(known) > 0 {
		q.KnownScores = func() ([]float64, error) { return p.knownScores(known) }
		if !p.Search.AnyDoses {
			p.restrictToKnownRange(q)
		}
	}
	if p.mostRecipesHaveDistinctSets() {
		q.Refuse = func(ingredients []int) bool {
			_, known := p.Book.RecipeWithSet(ingredients)
			return known
		}
	}
	if slices.ContainsFunc(p.Properties, func(w Property) bool { return w.isCheckedByHalves() }) {
		q.HalfTargets = p.halfDataTargets
	}
	q.AllObjectivesStated = p.hasNoModel()
	if len(p.Conditions) > 0 {
		return q, nil // a bound would have to hold for every value of the conditions
	}
	if q.BoundProblem, err = p.boundProblem(); err != nil {
		return nil, err
	}
	return q, nil
}

// restrictToKnownRange restricts the suggestions of a search to the range of amounts in the known recipes,
// because models are often wrong outside of that range:
//
//   - No amount is below the least amount that the ingredient has in the recipes.
//   - If a model was learnt from recipes, no amount is above the greatest amount that the ingredient has in the
//     recipes.
//   - If a model was learnt from recipes, ingredients that all recipes have are required.
//
// Constraints of the problem take precedence.
func (p *Problem) restrictToKnownRange(q *search.Question) {
	least, most := search.KnownAmountRanges(len(p.Ingredients), q.Known)
	q.Least = least
	if !slices.ContainsFunc(p.Properties, func(w Property) bool { return w.Weight > 0 && w.learntModel != nil }) {
		return
	}
	q.Most = most
	for _, r := range p.Rules {
		for _, one := range r.Rules {
			if a, ok := one.(rule.Amount); ok {
				for _, i := range a.Of {
					if a.Min > most[i] {
						most[i] = p.Total
					}
				}
			}
		}
	}
	if all := p.alwaysUsedIngredients(); len(all) > 0 {
		q.Always = all
		q.LacksAlwaysUsed = func(ingredients []int) bool {
			return slices.ContainsFunc(all, func(i int) bool { return !slices.Contains(ingredients, i) })
		}
	}
}

// alwaysUsedIngredients returns the indices of the ingredients that all known recipes use. It returns nil if
// there are fewer than ten recipes.
func (p *Problem) alwaysUsedIngredients() (all []int) {
	const fewest = 10
	if len(p.scaledRecipes) < fewest {
		return nil
	}
	uses := make([]int, len(p.Ingredients))
	for _, parts := range p.scaledRecipes {
		for _, part := range parts {
			uses[part.Ingredient]++
		}
	}
	for i, n := range uses {
		if n == len(p.scaledRecipes) {
			all = append(all, i)
		}
	}
	return all
}

// isCheckedByHalves reports whether the predictions of the property are checked by models learnt from halves of
// the recipes. This is the case if the property has a positive weight and a model learnt from the known
// recipes.
func (w *Property) isCheckedByHalves() bool { return w.Weight > 0 && w.ScoresByHeldOut() }

// IsChecked reports whether models learnt from halves of the recipes check the predictions of the property.
func (w *Property) IsChecked() bool { return w.isCheckedByHalves() }

// mostRecipesHaveDistinctSets reports whether most known recipes have a set of ingredients that no other recipe
// has. If so, a suggestion with the ingredients of a known recipe is not new. Otherwise only amounts
// distinguish recipes, as in mixtures of the same few materials.
func (p *Problem) mostRecipesHaveDistinctSets() bool {
	if p.Book == nil {
		return false
	}
	sets := make(map[string]int)
	key := func(parts []mcmc.Part) string {
		set := make([]int, len(parts))
		for k, part := range parts {
			set[k] = part.Ingredient
		}
		slices.Sort(set)
		return fmt.Sprint(set)
	}
	for _, parts := range p.scaledRecipes {
		sets[key(parts)]++
	}
	alone := 0
	for _, parts := range p.scaledRecipes {
		if sets[key(parts)] == 1 {
			alone++
		}
	}
	return 2*alone > len(p.scaledRecipes)
}

// newNiche returns how a search divides suggestions into niches, which have one best recipe each. Niches differ
// in the number of ingredients and in the main ingredient. If the ingredients have a cost, niches also differ
// in the cost of the recipe: two limits, which divide the known recipes into thirds, separate three bands.
func (p *Problem) newNiche(known []*mcmc.Composition) (kind search.Niche) {
	if p.attributes == nil {
		return kind
	}
	cost, ok := p.attributes.Attribute("cost")
	if !ok {
		return kind
	}
	values, err := cost.Numbers()
	if err != nil || slices.ContainsFunc(values, math.IsNaN) {
		return kind // the column is not a cost of every ingredient
	}
	kind.Attribute, kind.Bands = values, search.AttributeBands(values, known)
	return kind
}

// knownScores returns the score of each known recipe: the product of the scores of the properties, by models
// that have not learnt from the recipe. The score is NaN if the recipe has no value of a label, or if a model
// is from a file and may have learnt from the recipe.
func (p *Problem) knownScores(known []*mcmc.Composition) ([]float64, error) {
	scores := make([]float64, len(known))
	for r := range scores {
		scores[r] = 1
	}
	for k := range p.Properties {
		w := &p.Properties[k]
		if w.Weight == 0 {
			continue
		}
		of, err := w.knownScores(p, known)
		if err != nil {
			return nil, err
		}
		for r := range scores {
			scores[r] = float64(scores[r] * of[r])
		}
	}
	return scores, nil
}

// knownScores returns the score of the property for each known recipe. The score is NaN if every model may have
// learnt from that recipe.
func (w *Property) knownScores(p *Problem, known []*mcmc.Composition) ([]float64, error) {
	if w.ScoresByHeldOut() {
		return w.learntModel.heldOutScores(p)
	}
	if w.learntModel != nil {
		return slices.Repeat([]float64{math.NaN()}, len(known)), nil
	}
	scores := mcmc.Objective{Property: w.mcmcProperty}.LogScores(known)
	for r, log := range scores {
		scores[r] = portable.Exp(log)
	}
	return scores, nil
}

// halfDataTargets returns two targets that differ only in their models. The models of one target have learnt
// from one half of the recipes, and those of the other target from the other half.
func (p *Problem) halfDataTargets(ctx context.Context, seed uint64) (own, other *mcmc.Target, err error) {
	var objectives [2][]mcmc.Objective
	for _, w := range p.Properties {
		objective := mcmc.Objective{Name: w.Name, Property: w.mcmcProperty}
		if w.Weight > 0 {
			objective.Weight = 1
		}
		of := [2]mcmc.Objective{objective, objective}
		if w.isCheckedByHalves() {
			var data [2]*model.Data
			data[0], data[1] = w.learntModel.trainingData.SplitIntoHalves(seed)
			for k := range of {
				if of[k].Property, err = w.learntModel.relearn(ctx, data[k]); err != nil {
					return nil, nil, err
				}
			}
		}
		for k := range of {
			objectives[k] = append(objectives[k], of[k])
		}
	}
	if own, err = p.Target.WithObjectives(objectives[0]...); err != nil {
		return nil, nil, err
	}
	other, err = p.Target.WithObjectives(objectives[1]...)
	return own, other, err
}
