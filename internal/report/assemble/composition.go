package assemble

import (
	"math"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/portable"
	"kir/internal/report"
	"kir/internal/run"
	"kir/mcmc"
)

// maxNearest is the largest number of nearest known recipes that are listed for a composition.
const maxNearest = 3

// newReportBests returns compositions from a run in the form for reports, with their predictions
// and values.
func newReportBests(p *compile.Problem, list []run.Best) ([]report.Best, error) {
	models, err := newPredictors(p)
	if err != nil {
		return nil, err
	}
	values := newNamedValues(p)
	out := make([]report.Best, len(list))
	for k, b := range list {
		x, err := p.Target.Space().Composition(b.Parts, b.Conditions)
		if err != nil {
			return nil, err
		}
		out[k] = newReportBest(p, b)
		out[k].Predicted = predictAll(models, x)
		out[k].Values = compositionValues(values, x, out[k].Predicted)
		out[k].Sure = limitProbabilities(p, x)
	}
	return out, nil
}

// limitProbabilities returns the limits that the problem wants kept with a given probability. For
// each it gives the probability that a measurement of the composition keeps the limit.
func limitProbabilities(p *compile.Problem, x *mcmc.Composition) (all []report.LimitProbability) {
	for _, l := range p.SureLimitProbabilities(x) {
		all = append(all, report.LimitProbability{Limit: l.Limit, Probability: report.Number(l.Probability)})
	}
	return all
}

// newReportBest returns a composition from a run in the form for reports, without predictions and
// values.
func newReportBest(p *compile.Problem, b run.Best) report.Best {
	out := report.Best{
		Chain: b.Chain, Draw: b.Draw, Drawn: !b.Found, Score: report.Number(b.Score), LogDensity: report.Number(b.LogDensity),
		Scores: make(map[string]report.Number, len(b.Scores)), Recipe: make(map[string]int, len(b.Parts)), Known: b.Known,
		Nearest: []report.Nearest{}, Slack: []report.Slack{}, Apart: report.UnknownNumber(),
	}
	for k, y := range b.Scores {
		out.Scores[p.Properties[k].Name] = report.Number(y)
	}
	for _, part := range b.Parts {
		out.Recipe[p.Ingredients[part.Ingredient]] = part.Amount
	}
	out.Conditions = conditionValues(p, b.Conditions)
	for k, r := range p.Rules {
		for _, s := range r.Slacks(b.Parts, p.Total) {
			slack := report.Slack{Rule: k, Value: report.Number(s.Value), Min: report.Number(s.Min), Max: report.Number(s.Max), Unit: s.Unit, Room: report.Number(s.Room())}
			if s.Ingredient >= 0 {
				slack.Ingredient = p.Ingredients[s.Ingredient]
			}
			out.Slack = append(out.Slack, slack)
		}
	}
	if p.Book == nil {
		return out
	}
	for _, n := range p.Book.NearestRecipes(ingredientSet(b.Parts), maxNearest) {
		near := report.Nearest{Recipe: p.Book.Recipes[n.Recipe].Name, Overlap: report.Number(n.Overlap), Shared: []string{}, Distance: report.UnknownNumber()}
		for _, i := range n.Shared {
			near.Shared = append(near.Shared, p.Ingredients[i])
		}
		out.Nearest = append(out.Nearest, near)
	}
	return out
}

const (
	// maxDiverseEntries is the largest number of compositions in a shortlist made by
	// [selectDiverse].
	maxDiverseEntries = 50
	// relevanceWeight is λ in [selectDiverse]: the weight of a composition's score against the
	// weight of its difference from the compositions already chosen.
	relevanceWeight = 0.7
)

// selectDiverse selects at most limit compositions that score well and differ from each other, by
// maximal marginal relevance (Carbonell and Goldstein 1998). The first is the best. The next is
// always the composition x with the largest
//
// λ·score(x)/score(best) − (1−λ)·max_y overlap(x, y),
//
// where y runs over the compositions already selected, and λ = 0.7. The overlap is the share of
// common ingredients |X∩Y|/min(|X|, |Y|). Of equally good candidates the first in pool is selected.
// A shorter list is the beginning of a longer list.
func selectDiverse(pool []run.Best, limit int) []run.Best {
	if len(pool) == 0 {
		return nil
	}
	sets := make([][]int, len(pool))
	best := math.Inf(-1)
	for k, b := range pool {
		sets[k] = ingredientSet(b.Parts)
		best = max(best, b.LogScore)
	}
	relevance := make([]float64, len(pool))
	for k, b := range pool {
		relevance[k] = portable.Exp(b.LogScore - best) // 1 where all are −∞ or equal
		if math.IsInf(best, -1) {
			relevance[k] = 1
		}
	}
	nearest := make([]float64, len(pool)) // the largest overlap with what was chosen
	taken := make([]bool, len(pool))
	var chosen []run.Best
	for len(chosen) < min(limit, len(pool)) {
		at, value := -1, math.Inf(-1)
		for k := range pool {
			if taken[k] {
				continue
			}
			if v := float64(relevanceWeight*relevance[k]) - float64((1-relevanceWeight)*nearest[k]); v > value {
				at, value = k, v
			}
		}
		taken[at] = true
		chosen = append(chosen, pool[at])
		for k := range pool {
			if !taken[k] {
				nearest[k] = max(nearest[k], dataset.Overlap(sets[k], sets[at]))
			}
		}
	}
	return chosen
}

// ingredientSet returns the indices of the ingredients of a composition, in the order of its parts.
func ingredientSet(parts []mcmc.Part) []int {
	set := make([]int, len(parts))
	for k, p := range parts {
		set[k] = p.Ingredient
	}
	return set
}

// DiverseList returns compositions of a pool that score well and differ from each other. They are
// the shortlist of a problem without objectives.
func DiverseList(p *compile.Problem, pool []run.Best) ([]report.Best, error) {
	return newReportBests(p, selectDiverse(run.DistinctBest(pool), maxDiverseEntries))
}

// conditionValues returns a map from the name of each condition to its value. Item k of
// valueIndices is the index of the value of condition k. The result is nil if there are no
// conditions.
func conditionValues(p *compile.Problem, valueIndices []int32) map[string]any {
	if len(valueIndices) == 0 {
		return nil
	}
	all := make(map[string]any, len(valueIndices))
	for k, v := range valueIndices {
		all[p.Conditions[k].Name] = p.Conditions[k].Value(int(v))
	}
	return all
}
