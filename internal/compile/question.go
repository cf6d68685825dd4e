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

// KnownRecipes returns the known recipes in the book's order, closed to the total.
func (p *Problem) KnownRecipes() ([]*mcmc.Composition, error) {
	known := make([]*mcmc.Composition, len(p.recipes))
	for r, parts := range p.recipes {
		x, err := p.withConditions(r, parts)
		if err != nil {
			return nil, fmt.Errorf("recipe %d: %w", r, err)
		}
		known[r] = x
	}
	return known, nil
}

// withConditions returns a known recipe, under the offered conditions that are nearest to those it had.
func (p *Problem) withConditions(r int, parts []mcmc.Part) (*mcmc.Composition, error) {
	x, err := mcmc.NewComposition(len(p.Ingredients), parts...)
	if err != nil || p.conditionTable == nil {
		return x, err
	}
	values := make([]int, len(p.Conditions))
	for k, v := range p.conditionTable.nearest[r] {
		values[k] = int(v)
	}
	return x.WithConditions(values...)
}

// SearchQuestion returns the question for a search of the problem's best recipes.
func (p *Problem) SearchQuestion() (*search.Question, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	q := &search.Question{Target: p.Target, Effort: p.Search.Effort, Known: known, Niche: p.nicheOf(known)}
	if len(known) > 0 {
		q.KnownScores = func() ([]float64, error) { return p.knownScores(known) }
		if !p.Search.AnyDoses {
			p.restrictToData(q)
		}
	}
	if p.hasDistinctSets() {
		q.Refuse = func(ingredients []int) bool {
			_, known := p.Book.RecipeWithSet(ingredients)
			return known
		}
	}
	if slices.ContainsFunc(p.Properties, func(w Property) bool { return w.splitsInHalves() }) {
		q.Halves = p.splitHalves
	}
	q.Stated = p.hasNoModel()
	if len(p.Conditions) > 0 {
		return q, nil // a bound would have to hold for every value of the conditions
	}
	if q.Bounding, err = p.boundProblem(); err != nil {
		return nil, err
	}
	return q, nil
}

// restrictToData restricts suggestions to the range of the known recipes. No amount is below the least of
// its ingredient. If a model was learnt from recipes, no amount is above the greatest, and ingredients that
// all recipes have are required. Models have seen nothing outside this range, and a search finds where they
// are wrong. Constraints of the problem take precedence.
func (p *Problem) restrictToData(q *search.Question) {
	least, most := search.KnownAmountRanges(len(p.Ingredients), q.Known)
	q.Least = least
	if !slices.ContainsFunc(p.Properties, func(w Property) bool { return w.Weight > 0 && w.learnt != nil }) {
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
	if all := p.alwaysUsed(); len(all) > 0 {
		q.Always = all
		q.Lacks = func(ingredients []int) bool {
			return slices.ContainsFunc(all, func(i int) bool { return !slices.Contains(ingredients, i) })
		}
	}
}

// alwaysUsed returns the ingredients that all recipes use, if there are at least ten recipes.
func (p *Problem) alwaysUsed() (all []int) {
	const fewest = 10
	if len(p.recipes) < fewest {
		return nil
	}
	uses := make([]int, len(p.Ingredients))
	for _, parts := range p.recipes {
		for _, part := range parts {
			uses[part.Ingredient]++
		}
	}
	for i, n := range uses {
		if n == len(p.recipes) {
			all = append(all, i)
		}
	}
	return all
}

// splitsInHalves reports whether a property counts and was learnt from the known recipes.
func (w *Property) splitsInHalves() bool { return w.Weight > 0 && w.ScoresByHeldOut() }

// IsChecked reports whether models of halves of the recipes check what a property predicts.
func (w *Property) IsChecked() bool { return w.splitsInHalves() }

// hasDistinctSets reports whether a recipe is identified by its ingredients: most recipes have a set of
// ingredients that no other has. A suggestion with the set of a known recipe is then not new. If many
// recipes share a set, as in mixtures of the same few materials, their amounts distinguish them.
func (p *Problem) hasDistinctSets() bool {
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
	for _, parts := range p.recipes {
		sets[key(parts)]++
	}
	alone := 0
	for _, parts := range p.recipes {
		if sets[key(parts)] == 1 {
			alone++
		}
	}
	return 2*alone > len(p.recipes)
}

// nicheOf returns how suggestions are divided into niches: by the number of ingredients, the main
// ingredient and, if the ingredients have a cost, by thirds of the known recipes' cost.
func (p *Problem) nicheOf(known []*mcmc.Composition) (kind search.Niche) {
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

// knownScores returns Π_k y_k of the known recipes, with forests out of bag. It is NaN for recipes without
// a label, and if a forest is from a file and may have seen the recipes.
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

// knownScores returns the score of each known recipe, or NaN if no model can score it without having seen
// it.
func (w *Property) knownScores(p *Problem, known []*mcmc.Composition) ([]float64, error) {
	if w.ScoresByHeldOut() {
		return w.learnt.heldOutScores(p)
	}
	scores := make([]float64, len(known))
	for r, x := range known {
		scores[r] = math.NaN()
		if w.learnt == nil {
			scores[r] = portable.Exp(w.property.LogScore(x))
		}
	}
	return scores, nil
}

// splitHalves returns two targets that differ only in their models, which have learnt from different halves
// of the recipes.
func (p *Problem) splitHalves(ctx context.Context, seed uint64) (own, other *mcmc.Target, err error) {
	var objectives [2][]mcmc.Objective
	for _, w := range p.Properties {
		objective := mcmc.Objective{Name: w.Name, Property: w.property}
		if w.Weight > 0 {
			objective.Weight = 1
		}
		of := [2]mcmc.Objective{objective, objective}
		if w.splitsInHalves() {
			var data [2]*model.Data
			data[0], data[1] = w.learnt.data.Halves(seed)
			for k := range of {
				if of[k].Property, err = w.learnt.relearn(ctx, data[k]); err != nil {
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
