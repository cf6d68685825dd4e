package assemble

import (
	"math"

	"cmp"
	"fmt"
	"slices"

	"kir/internal/compile"
	"kir/internal/number"
	"kir/internal/report"
	"kir/model"
)

// ProblemOf returns the description of a problem for a report.
func ProblemOf(p *compile.Problem) report.Problem { return newReportProblem(p) }

// newReportProblem returns the description of a problem for a report.
func newReportProblem(p *compile.Problem) report.Problem {
	out := report.Problem{Name: p.Name, Ingredients: len(p.Ingredients), Total: p.Total, Rules: []string{}}
	if p.Book != nil {
		out.Recipes = len(p.Book.Recipes)
		if size, ok := p.Book.RecipeSize(); ok {
			out.Unit, out.Whole = size.Unit.Name, report.Number(number.Rounded(size.Median, 3))
		}
	}
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, r.Text)
	}
	for _, r := range p.TiedRules { // behind the others, which slacks name by their place
		out.Rules = append(out.Rules, r.Text)
	}
	for _, c := range p.Conditions {
		one := report.Condition{Name: c.Name, Unit: c.Unit, Given: c.Given}
		for v := range c.Len() {
			one.Values = append(one.Values, c.Value(v))
		}
		out.Conditions = append(out.Conditions, one)
	}
	return out
}

// newReportProperties returns the descriptions of a problem's properties for a report.
func newReportProperties(p *compile.Problem) []report.Property {
	properties := make([]report.Property, len(p.Properties))
	for k, w := range p.Properties {
		properties[k] = report.Property{Name: w.Name, Kind: w.Kind, About: w.About, Weight: w.Weight}
		if w.Model != nil {
			properties[k].Forest = newForestReport(w.Model)
		}
	}
	for _, f := range newNamedValues(p) {
		properties[f.propertyIndex].Values = append(properties[f.propertyIndex].Values, f.name)
	}
	return properties
}

// newForestReport returns the description of a trained model for a report.
func newForestReport(p compile.Predictor) *report.Forest {
	out := &report.Forest{Label: p.Label(), Rows: p.Rows(), Classes: p.Classes(), Quality: p.Quality()}
	f, ok := p.(*model.Forest)
	if m, learnt := p.(*model.LearnedModel); learnt {
		f, ok = m.Forest(), m.Forest() != nil
		out.Learnt = newLearntReport(m)
	}
	if !ok {
		return out
	}
	out.Trees = f.TreeCount()
	features := f.Features()
	for k, i := range f.Importances() {
		if i.Mean > 0 {
			out.Importances = append(out.Importances, report.Importance{Feature: features[k].Name, Importance: i})
		}
	}
	slices.SortStableFunc(out.Importances, func(a, b report.Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	out.Importances = out.Importances[:min(len(out.Importances), maxImportances)]
	return out
}

// newLearntReport returns the details, for a report, of a model that may combine a forest and a
// Gaussian process.
func newLearntReport(m *model.LearnedModel) *report.Learnt {
	out := &report.Learnt{Process: m.Process() != nil, Log: m.Options().Log, Failures: m.FailedCount(), Brings: m.HeldOutComparison()}
	if c := m.Choice(); c != nil && c.Chosen > 0 {
		out.Features = c.Tried[c.Chosen].Name
	}
	if p := m.Process(); p != nil {
		rows, sd := p.Replicates()
		out.Replicates = rows
		out.ReplicateSD, out.Noise = report.Number(sd), report.Number(p.Noise())
	}
	return out
}

// maxImportances is the largest number of features that a report on a model lists, the most
// important ones.
const maxImportances = 15

// forestWarnings returns a warning for each model that predicts no better than guessing.
func forestWarnings(p *compile.Problem) []string {
	warnings := []string{}
	for _, w := range p.Properties {
		if w.Model == nil {
			continue
		}
		q := w.Model.Quality()
		if q.Classes != nil && q.Classes.Guessing() || q.Numbers != nil && q.Numbers.Guessing() {
			warnings = append(warnings, fmt.Sprintf("The model of %s predicts recipes that it has not seen no better than guessing: its scores say little. Add recipes, merge rare classes, or drop the property.", w.Name))
		}
	}
	return warnings
}

// heldOutReports returns, for each training recipe of a model, the measured label and the
// prediction by a model that was trained without the recipe. The result is nil unless the label is
// numeric.
func heldOutReports(m *model.LearnedModel) (all []report.HeldOut) {
	if !m.Numeric() {
		return nil
	}
	measured := m.NumericLabels()
	for r, q := range m.HeldOut() {
		if !math.IsNaN(q.Value) {
			all = append(all, report.HeldOut{
				Measured: report.Number(measured[r]), Value: report.Number(q.Value), Low: report.Number(q.Low), High: report.Number(q.High),
			})
		}
	}
	return all
}

// Training computes the report on a trained model. The parameter file names the file that the model
// was saved in; it may be empty.
func Training(p compile.Predictor, file string) (*report.Training, error) {
	t := &report.Training{Forest: *newForestReport(p), File: file}
	f, ok := p.(*model.Forest)
	if ok {
		t.Choice = f.Choice()
	} else {
		m := p.(*model.LearnedModel)
		f, t.Choice = m.Forest(), m.Choice()
		t.HeldOut = heldOutReports(m)
		if err := addTrainingResponses(t, m); err != nil {
			return nil, fmt.Errorf("the responses: %w", err)
		}
	}
	if f != nil {
		o := f.Options()
		t.Seed, t.Features, t.Leaf, t.Deepest = o.Seed, o.FeaturesPerSplit, o.SmallestLeaf, f.Shape().MaxDepth
	}
	return t, nil
}
