package problem

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
		x, err := mcmc.NewComposition(len(p.Ingredients), parts...)
		if err != nil {
			return nil, fmt.Errorf("recipe %d: %w", r, err)
		}
		known[r] = x
	}
	return known, nil
}

// SearchQuestion returns what there is to know of the problem when its best is looked
// for.
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
	if q.Bounding, err = p.boundProblem(); err != nil {
		return nil, err
	}
	return q, nil
}

// restrictToData keeps what is offered where the book is: no amount below the least of an
// ingredient and, where something has been learnt from recipes, none above the
// greatest, and nothing without what all recipes have. Models have seen nothing
// else, and a search finds where they are wrong. What a rule asks for goes before.
func (p *Problem) restrictToData(q *search.Question) {
	least, most := search.Doses(len(p.Ingredients), q.Known)
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

// alwaysUsed returns the ingredients that all recipes have, of a book of at least ten.
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

// splitsInHalves says whether a property counts and has learnt from the book's recipes.
func (w *Property) splitsInHalves() bool { return w.Weight > 0 && w.ScoresByHeldOut() }

// IsChecked says whether models of halves of the book check what a property promises.
func (w *Property) IsChecked() bool { return w.splitsInHalves() }

// hasDistinctSets says whether a recipe is known by what it is made of: most recipes have
// a set of ingredients that no other has. Then what has the set of a known one is
// no new idea. Where many recipes share a set, as in a book of mixtures of the
// same few materials, the amounts are the idea.
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

// nicheOf tells ideas apart by the number of ingredients, the main one and, if the
// ingredients have a cost, by thirds of that of the known recipes.
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
		return kind // a column of that name which is no cost of each
	}
	kind.Attribute, kind.Bands = values, search.Bands(values, known)
	return kind
}

// knownScores returns Π_k y_k of the known recipes, forests out of bag; NaN for
// recipes without a label, and where a forest is from a file and nobody knows
// which recipes it has seen.
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

// knownScores returns y of each known recipe, NaN where it cannot be told fairly.
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

// splitHalves returns two targets that are alike but for their forests, which have
// learnt from different halves of the recipes.
func (p *Problem) splitHalves(ctx context.Context, seed uint64) (own, other *mcmc.Target, err error) {
	var wishes [2][]mcmc.Objective
	for _, w := range p.Properties {
		wish := mcmc.Objective{Name: w.Name, Property: w.property}
		if w.Weight > 0 {
			wish.Weight = 1
		}
		of := [2]mcmc.Objective{wish, wish}
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
			wishes[k] = append(wishes[k], of[k])
		}
	}
	if own, err = p.Target.WithObjectives(wishes[0]...); err != nil {
		return nil, nil, err
	}
	other, err = p.Target.WithObjectives(wishes[1]...)
	return own, other, err
}
