package problem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/search"
	"kir/internal/yield"
	"kir/mcmc"
	"kir/rule"
)

// rareShare is the share of the recipes below which a bound on a label is met by
// few, and above the rest by nearly all.
const rareShare = 0.05

// Hints says, in sentences, what a look at the problem suggests that is right as
// it stands and may not be meant: least amounts of what need not be used, bounds
// that few recipes or nearly all meet.
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
				w.Name, met, fault.Count(all, "recipe"), w.Model.Label(), w.learnt.want, least, greatest))
		}
	}
	return offers
}

// requiredIngredients returns the ingredients that a rule requires.
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

// hintAlwaysUsed tells of ingredients that all recipes have and draws need not.
func (p *Problem) hintAlwaysUsed() []string {
	required := p.requiredIngredients()
	var names []string
	for _, i := range p.alwaysUsed() {
		if !slices.Contains(required, i) {
			names = append(names, fault.Quote(p.Ingredients[i]))
		}
	}
	if names == nil {
		return nil
	}
	list := strings.Join(names, ", ")
	return []string{fmt.Sprintf("All %s have %s, and draws need not. If they are to, add require: [%s].", fault.Count(len(p.recipes), "recipe"), list, list)}
}

// hintRequire tells of ingredients with a least amount that need not be used.
func (p *Problem) hintRequire() []string {
	required := p.requiredIngredients()
	var offers []string
	for _, r := range p.Rules {
		if len(r.Rules) != 1 {
			continue
		}
		a, ok := r.Rules[0].(rule.Amount)
		if ok && a.Min > 1 && len(a.Of) == 1 && !slices.Contains(required, a.Of[0]) {
			name := fault.Quote(p.Ingredients[a.Of[0]])
			offers = append(offers, fmt.Sprintf("%s is to have at least %d where it is used, and need not be used. If it is to be in every composition, add require: [%s].", name, a.Min, name))
		}
	}
	return offers
}

// OutsideShare returns the share of random compositions, drawn under the rules, that
// have an amount which no known recipe has: below the least or above the greatest
// of it, or of an ingredient that none uses. It is 0 without a book.
func (p *Problem) OutsideShare(ctx context.Context, draws int) (float64, error) {
	known, err := p.KnownRecipes()
	if err != nil || len(known) == 0 {
		return 0, err
	}
	least, most := search.Doses(len(p.Ingredients), known)
	prior, r := mcmc.NewPrior(p.Target), mcmc.NewRand(1, "outside", 0)
	outside := 0
	for range draws {
		if err := yield.Err(ctx); err != nil {
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

// IsWithinBook says whether amounts of all ingredients are kept within the book's by a
// rule.
func (p *Problem) IsWithinBook() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.Text == everyIngredient+withinBook })
}
