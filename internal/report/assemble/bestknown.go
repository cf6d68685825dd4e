package assemble

import (
	"math"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/mcmc"
)

// BestKnown returns the known recipe that a shortlist is compared with; see [report.BestKnown]. It
// sets the field NotBetter of the entries of the list.
func BestKnown(p *compile.Problem, list []report.Best) (*report.BestKnown, error) {
	models, err := newPredictors(p)
	if err != nil {
		return nil, err
	}
	known, err := newBestKnown(p, models)
	if err == nil {
		markNotBetter(known, list)
	}
	return known, err
}

// newBestKnown returns the result of [BestKnown]. It returns nil if there are no known recipes, no
// objectives, or no recipe with a score for each of them. Of equal recipes the first in the table is
// taken.
func newBestKnown(p *compile.Problem, models []predictor) (*report.BestKnown, error) {
	weighted := false
	for _, w := range p.Properties {
		weighted = weighted || w.Weight > 0
	}
	if p.Book == nil || !weighted {
		return nil, nil
	}
	scored, err := p.ScoreByResults()
	if err != nil {
		return nil, p.Explain(err)
	}
	best := -1
	for r, s := range scored {
		if math.IsNaN(s.Score) {
			continue
		}
		if best < 0 || compareKnown(s, scored[best]) > 0 {
			best = r
		}
	}
	if best < 0 {
		return nil, nil
	}
	s := scored[best]
	x, err := p.Target.Space().Composition(s.Parts, s.Conditions)
	if err != nil {
		return nil, err
	}
	out := &report.BestKnown{
		Name: p.Book.Recipes[best].Name, Recipe: make(map[string]int), Conditions: conditionValues(p, s.Conditions),
		Score: report.Number(s.Score), Scores: make(map[string]report.Number), Measured: make(map[string]report.Measurement), Broken: len(s.Broken),
	}
	for r, other := range scored {
		if r != best && !math.IsNaN(other.Score) && compareKnown(other, s) == 0 {
			out.Ties++
		}
	}
	for _, part := range s.Parts {
		out.Recipe[p.Ingredients[part.Ingredient]] = part.Amount
	}
	for k := range p.Properties {
		w := &p.Properties[k]
		out.Scores[w.Name] = report.Number(s.Scores[k])
		if label, ok := measuredLabel(p, w, best); ok {
			out.Measured[w.Name] = label
		}
	}
	out.Predicted, out.Values = unmeasuredValues(p, models, x, best, out.Measured)
	return out, nil
}

// compareKnown returns a positive number if a is better than b, a negative number if it is worse,
// and 0 if they are equal. Fewer broken constraints come before a larger score.
func compareKnown(a, b compile.ScoredRecipe) int {
	switch {
	case len(a.Broken) != len(b.Broken):
		return len(b.Broken) - len(a.Broken)
	case a.Score > b.Score:
		return 1
	case a.Score < b.Score:
		return -1
	}
	return 0
}

// measuredLabel returns the measured label of a property for the known recipe with the given index.
// The result ok is false if the property was not learnt from the recipes or the recipe has no label.
func measuredLabel(p *compile.Problem, w *compile.Property, recipe int) (label report.Measurement, ok bool) {
	if number, ok := w.MeasuredNumbers()[recipe]; ok {
		return report.Measurement{Value: report.Number(number)}, true
	}
	if w.Class == "" || !w.ScoresByHeldOut() {
		return label, false
	}
	of, ok := p.Book.Label(w.Model.Label())
	if !ok || of.ClassOf[recipe] < 0 {
		return label, false
	}
	return report.Measurement{Value: report.UnknownNumber(), Class: of.Value(recipe)}, true
}

// unmeasuredValues returns what is known of a known recipe without measurements: the predictions of
// labels that measured lacks, by models that were trained without the recipe, and the quantities
// that properties compute.
func unmeasuredValues(p *compile.Problem, models []predictor, x *mcmc.Composition, recipe int, measured map[string]report.Measurement) (map[string]report.Prediction, map[string]report.Value) {
	var predicted map[string]report.Prediction
	for k := range models {
		w := &models[k]
		if _, ok := measured[w.Name]; ok {
			continue
		}
		q, known := w.predict(x), true
		if w.Model != nil {
			q, known = w.predictHeldOut(recipe)
		}
		if known {
			if predicted == nil {
				predicted = make(map[string]report.Prediction)
			}
			predicted[w.Name] = q
		}
	}
	return predicted, compositionValues(newNamedValues(p), x, nil)
}

// markNotBetter sets the field NotBetter of the entries of a shortlist that the best known recipe
// scores at least as much as. It does nothing if known is nil or breaks constraints.
func markNotBetter(known *report.BestKnown, list []report.Best) {
	if known == nil || known.Broken > 0 {
		return
	}
	for k := range list {
		list[k].NotBetter = known.Score >= list[k].Score
	}
}
