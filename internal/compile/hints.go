package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/config"
	"kir/internal/constraint/conflict"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/search"
	"kir/mcmc"
	"kir/rule"
)

// fewRecipesShare is the share of recipes below which only few recipes meet a bound on a label. Above 1 −
// fewRecipesShare nearly all recipes meet the bound.
const fewRecipesShare = 0.05

// Hints returns sentences about valid parts of the problem that may not be intended. Three things are
// reported: a minimum amount of an ingredient that no rule requires, an ingredient that all recipes use but
// no rule requires, and a bound that few or nearly all recipes meet.
func (p *Problem) Hints(ctx context.Context) []string {
	offers := append(p.hintMinimumWithoutRequire(ctx), p.hintAlwaysUsed()...)
	for k := range p.Properties {
		w := &p.Properties[k]
		if w.Model == nil || !w.Model.Numeric() || w.learntModel.trainingData == nil {
			continue
		}
		low, high, bounded := w.learntModel.wantedValues.Bounds()
		if !bounded {
			continue
		}
		met := 0
		for _, v := range w.learntModel.trainingData.Numbers {
			if low <= v && v <= high {
				met++
			}
		}
		all := len(w.learntModel.trainingData.Numbers)
		least, greatest := w.Model.Range()
		if share := float64(met) / float64(all); share < fewRecipesShare || share > 1-fewRecipesShare {
			offers = append(offers, fmt.Sprintf("%s: %d of %s have a %s %s; yours range from %v to %v. Write a bound that about half of them meet, or maximize: true or minimize: true.",
				w.Name, met, inputerr.Count(all, "recipe"), w.Model.Label(), w.learntModel.wantedValues, least, greatest))
		}
	}
	return offers
}

// requiredIngredients returns the indices of the ingredients that some rule requires.
func (p *Problem) requiredIngredients() (required []int) {
	for _, r := range p.Rules {
		for _, one := range r.Rules {
			if q, ok := one.(rule.Require); ok {
				required = append(required, q.Of...)
			}
		}
	}
	return required
}

// hintAlwaysUsed returns a hint if all recipes use an ingredient that no rule requires.
func (p *Problem) hintAlwaysUsed() []string {
	required := p.requiredIngredients()
	var names []string
	for _, i := range p.alwaysUsedIngredients() {
		if !slices.Contains(required, i) {
			names = append(names, inputerr.Quote(p.Ingredients[i]))
		}
	}
	if names == nil {
		return nil
	}
	list := strings.Join(names, ", ")
	return []string{fmt.Sprintf("All %s have %s, but suggestions need not. To use it always, add require: [%s] to the constraints.", inputerr.Count(len(p.scaledRecipes), "recipe"), list, list)}
}

// hintMinimumWithoutRequire returns a hint for each ingredient that has a minimum amount although no rule
// requires the ingredient, but some recipe with the ingredient keeps all rules. If no recipe has all of these
// ingredients, it returns one hint for all.
func (p *Problem) hintMinimumWithoutRequire(ctx context.Context) []string {
	required := p.requiredIngredients()
	var of []int
	var names, minimums, hints []string
	for _, r := range p.Rules {
		if len(r.Rules) != 1 {
			continue
		}
		a, ok := r.Rules[0].(rule.Amount)
		if ok && a.Min > 1 && len(a.Of) == 1 && !slices.Contains(required, a.Of[0]) && p.canRequire(ctx, a.Of) {
			name, least := inputerr.Quote(p.Ingredients[a.Of[0]]), number.ShortShare(a.Min, p.Total)
			of, names = append(of, a.Of[0]), append(names, name)
			minimums = append(minimums, name+" at least "+least)
			hints = append(hints, fmt.Sprintf("%s is at least %s where it is used, but need not be used. To use it always, add require: [%s] to the constraints.", name, least, name))
		}
	}
	if len(of) > 1 && !p.canRequire(ctx, of) {
		return []string{fmt.Sprintf("Where used, %s, but none need be used. No recipe has all of these. To use one always, add, for example, require: [%s] to the constraints.", number.JoinAnd(minimums), names[0])}
	}
	return hints
}

// canRequire reports whether no conflict is proven between the rules and the demand that recipes use all
// ingredients with the given indices.
func (p *Problem) canRequire(ctx context.Context, of []int) bool {
	set := rule.Set{Ingredients: len(p.Ingredients), Total: p.Total, Rules: []rule.Rule{rule.Require{Of: of}}}
	for _, r := range p.Rules {
		if r.Predicted == nil {
			set.Rules = append(set.Rules, r.Rules...)
		}
	}
	lo, hi := p.Target.Law().Support()
	for n := lo; n <= hi; n++ {
		if p.Target.Law().P(n) > 0 {
			set.Used = append(set.Used, n)
		}
	}
	why, err := conflict.Explain(ctx, set)
	return err == nil && why == nil
}

// OutsideShare draws random compositions that keep the rules. It returns the share of draws that have some
// ingredient in an amount outside the range of that ingredient in the known recipes. An ingredient that no
// recipe uses has an empty range. Without known recipes the result is 0.
func (p *Problem) OutsideShare(ctx context.Context, draws int) (float64, error) {
	known, err := p.KnownRecipes()
	if err != nil || len(known) == 0 {
		return 0, err
	}
	least, most := search.KnownAmountRanges(len(p.Ingredients), known)
	prior, r := mcmc.NewPrior(p.Target), mcmc.NewRand(1, "outside", 0)
	outside := 0
	for range draws {
		if err := browsersched.Err(ctx); err != nil {
			return 0, err
		}
		x, err := prior.Draw(r)
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(x.Parts(), func(q mcmc.Part) bool { return q.Amount < least[q.Ingredient] || q.Amount > most[q.Ingredient] }) {
			outside++
		}
	}
	return float64(outside) / float64(draws), nil
}

// IsWithinBook reports whether a rule keeps the amount of every ingredient within the range of its amounts in
// the known recipes.
func (p *Problem) IsWithinBook() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Text == config.WithinBookText })
}
