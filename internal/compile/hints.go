package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/browsersched"
	"kir/internal/config"
	"kir/internal/inputerr"
	"kir/internal/search"
	"kir/mcmc"
	"kir/rule"
)

// rareShare is the share of recipes below which a bound on a label counts as met by few. Above 1 −
// rareShare it counts as met by nearly all.
const rareShare = 0.05

// Hints returns sentences about parts of the problem that are valid but may not be intended: least amounts
// of ingredients that need not be used, and bounds that few recipes or nearly all meet.
func (p *Problem) Hints() []string {
	offers := append(p.hintRequire(), p.hintAlwaysUsed()...)
	for k := range p.Properties {
		w := &p.Properties[k]
		if w.Model == nil || !w.Model.Numeric() || w.learnt.data == nil {
			continue
		}
		low, high, bounded := w.learnt.want.Bounds()
		if !bounded {
			continue
		}
		met := 0
		for _, v := range w.learnt.data.Numbers {
			if low <= v && v <= high {
				met++
			}
		}
		all := len(w.learnt.data.Numbers)
		least, greatest := w.Model.Range()
		if share := float64(met) / float64(all); share < rareShare || share > 1-rareShare {
			offers = append(offers, fmt.Sprintf("%s: %d of %s have a %s %s; the book has %v to %v. A bound that about half meet tells more, and maximize: true or minimize: true needs none.",
				w.Name, met, inputerr.Count(all, "recipe"), w.Model.Label(), w.learnt.want, least, greatest))
		}
	}
	return offers
}

// requiredIngredients returns the ingredients that some rule requires.
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

// hintAlwaysUsed reports ingredients that all recipes use and that no rule requires.
func (p *Problem) hintAlwaysUsed() []string {
	required := p.requiredIngredients()
	var names []string
	for _, i := range p.alwaysUsed() {
		if !slices.Contains(required, i) {
			names = append(names, inputerr.Quote(p.Ingredients[i]))
		}
	}
	if names == nil {
		return nil
	}
	list := strings.Join(names, ", ")
	return []string{fmt.Sprintf("All %s have %s, and draws need not. If they are to, add require: [%s].", inputerr.Count(len(p.recipes), "recipe"), list, list)}
}

// hintRequire reports ingredients that have a least amount and that no rule requires.
func (p *Problem) hintRequire() []string {
	required := p.requiredIngredients()
	var offers []string
	for _, r := range p.Rules {
		if len(r.Rules) != 1 {
			continue
		}
		a, ok := r.Rules[0].(rule.Amount)
		if ok && a.Min > 1 && len(a.Of) == 1 && !slices.Contains(required, a.Of[0]) {
			name := inputerr.Quote(p.Ingredients[a.Of[0]])
			offers = append(offers, fmt.Sprintf("%s is to have at least %d where it is used, and need not be used. If it is to be in every composition, add require: [%s].", name, a.Min, name))
		}
	}
	return offers
}

// OutsideShare returns the share of random compositions under the rules with an amount outside the range of
// the known recipes. Any amount of an ingredient that no recipe uses is outside. It returns 0 without known
// recipes.
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

// IsWithinBook reports whether a rule keeps all ingredients within the amounts of the known recipes.
func (p *Problem) IsWithinBook() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Text == config.WithinBookText })
}
