package assemble

import (
	"math"

	"cmp"
	"fmt"
	"slices"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/model"
)

// ProblemOf returns the description of a problem for a report.
func ProblemOf(p *compile.Problem) report.Problem { return newProblem(p) }

func newProblem(p *compile.Problem) report.Problem {
	out := report.Problem{Name: p.Name, Ingredients: len(p.Ingredients), Total: p.Total, Rules: []string{}}
	if p.Book != nil {
		out.Recipes = len(p.Book.Recipes)
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

func newProperties(p *compile.Problem) []report.Property {
	properties := make([]report.Property, len(p.Properties))
	for k, w := range p.Properties {
		properties[k] = report.Property{Name: w.Name, Kind: w.Kind, About: w.About, Weight: w.Weight}
		if w.Model != nil {
			properties[k].Forest = newForest(w.Model)
		}
	}
	for _, f := range namedFigures(p) {
		properties[f.propertyIndex].Values = append(properties[f.propertyIndex].Values, f.name)
	}
	return properties
}

// newForest describes a trained model.
func newForest(p compile.Predictor) *report.Forest {
	out := &report.Forest{Label: p.Label(), Rows: p.Rows(), Classes: p.Classes(), Quality: p.Quality()}
	f, ok := p.(*model.Forest)
	if m, learnt := p.(*model.LearnedModel); learnt {
		f, ok = m.Forest(), m.Forest() != nil
		out.Learnt = newLearnt(m)
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

// newLearnt describes the training of a model that may be more than a forest.
func newLearnt(m *model.LearnedModel) *report.Learnt {
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

// maxImportances is the largest number of features that a report lists with their importances.
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

// newHeldOut returns the held-out predictions of the training recipes of a model; nil unless its
// label is numeric.
func newHeldOut(m *model.LearnedModel) (all []report.HeldOut) {
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
	t := &report.Training{Forest: *newForest(p), File: file}
	f, ok := p.(*model.Forest)
	if ok {
		t.Choice = f.Choice()
	} else {
		m := p.(*model.LearnedModel)
		f, t.Choice = m.Forest(), m.Choice()
		t.HeldOut = newHeldOut(m)
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
