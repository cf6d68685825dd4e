package assemble

import (
	"fmt"
	"slices"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/search"
	"kir/mcmc"
)

// newShortlistEntries returns the entries of the shortlist that a search has found, in the form for
// reports.
func newShortlistEntries(p *compile.Problem, a *search.Answer, models []predictor) ([]report.Best, error) {
	known, err := p.KnownRecipes()
	if err != nil {
		return nil, err
	}
	distance := search.NewDistance(len(p.Ingredients), known)
	values := newNamedValues(p)
	list := make([]report.Best, len(a.Entries))
	for k, e := range a.Entries {
		x, err := p.Target.Space().Composition(e.Parts, e.Conditions)
		if err != nil {
			return nil, fmt.Errorf("entry %d of the shortlist: %w", k+1, err)
		}
		logScore, err := p.Target.LogScore(x)
		if err != nil {
			return nil, err
		}
		b := newReportBest(p, run.Best{
			Chain: -1, Draw: -1, Found: true, Score: e.Score(), LogDensity: p.Target.LogPrior(x) + logScore,
			Scores: e.Scores, Conditions: e.Conditions, Parts: e.Parts, Known: isKnownSet(p, e.Parts),
		})
		b.Apart = report.Number(e.EarlierDistance)
		b.Extrapolates = slices.Contains(a.Comparison.ExtrapolatingEntries, k)
		b.Predicted = predictAll(models, x)
		b.Values = compositionValues(values, x, b.Predicted)
		b.Sure = limitProbabilities(p, x)
		for q, r := range e.Ranges {
			if r.Low < r.High {
				if b.Ranges == nil {
					b.Ranges = make(map[string]search.Range)
				}
				b.Ranges[p.Ingredients[e.Parts[q].Ingredient]] = r
			}
		}
		for k, r := range e.ConditionRanges {
			if c := p.Conditions[k]; c.Numbers != nil && r.Low < r.High {
				if b.ConditionRanges == nil {
					b.ConditionRanges = make(map[string]report.ConditionRange)
				}
				b.ConditionRanges[c.Name] = report.ConditionRange{Low: c.Numbers[r.Low], High: c.Numbers[r.High]}
			}
		}
		for _, v := range e.Variants {
			b.Variants = append(b.Variants, newVariant(p, e.Parts, v))
		}
		b.Nearest = newNearest(p, e, distance)
		list[k] = b
	}
	return list, nil
}

// isKnownSet reports whether a known recipe has the same set of ingredients as a composition.
func isKnownSet(p *compile.Problem, parts []mcmc.Part) bool {
	if p.Book == nil {
		return false
	}
	_, known := p.Book.RecipeWithSet(ingredientSet(parts))
	return known
}

// newVariant describes how a variant, a similar composition, differs from the composition with the
// given parts.
func newVariant(p *compile.Problem, parts []mcmc.Part, v search.Found) report.Variant {
	out := report.Variant{Score: report.Number(v.Score()), Without: []string{}, With: make(map[string]int)}
	for _, q := range parts {
		if !slices.ContainsFunc(v.Parts, func(r mcmc.Part) bool { return r.Ingredient == q.Ingredient }) {
			out.Without = append(out.Without, p.Ingredients[q.Ingredient])
		}
	}
	for _, q := range v.Parts {
		if !slices.ContainsFunc(parts, func(r mcmc.Part) bool { return r.Ingredient == q.Ingredient }) {
			out.With[p.Ingredients[q.Ingredient]] = q.Amount
		}
	}
	return out
}

// newNearest returns the known recipes that are nearest to an entry of the shortlist. Ingredients
// that all known recipes have do not count as shared.
func newNearest(p *compile.Problem, e search.Entry, d *search.Distance) []report.Nearest {
	own := slices.DeleteFunc(ingredientSet(e.Parts), d.Common)
	list := []report.Nearest{}
	for _, n := range e.Nearest {
		r := &p.Book.Recipes[n.KnownIndex]
		var theirs []int
		near := report.Nearest{Recipe: r.Name, Shared: []string{}, Distance: report.Number(n.Distance)}
		for _, part := range r.Parts {
			if i := int(part.Ingredient); !d.Common(i) {
				theirs = append(theirs, i)
				if slices.Contains(own, i) {
					near.Shared = append(near.Shared, p.Ingredients[i])
				}
			}
		}
		slices.Sort(theirs)
		if len(own) > 0 && len(theirs) > 0 {
			near.Overlap = report.Number(dataset.Overlap(own, theirs))
		}
		list = append(list, near)
	}
	return list
}
