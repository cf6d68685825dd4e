package build

import (
	"cmp"
	"fmt"
	"slices"

	"kir/mcmc"

	"kir/internal/problem"
	"kir/internal/report"
	"kir/model"
)

func problemOf(p *problem.Problem) report.Problem {
	out := report.Problem{Name: p.Name, Ingredients: len(p.Ingredients), Total: p.Total, Rules: []string{}}
	if p.Book != nil {
		out.Recipes = len(p.Book.Recipes)
	}
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, r.Text)
	}
	return out
}

// shareOf returns what share of the counted compositions of n ingredients keeps all
// rules, nil where all rules are counted.
func shareOf(space *mcmc.Space, n int) *report.Share {
	shares := space.Shares()
	if shares == nil {
		return nil
	}
	return &report.Share{Estimate: report.Number(shares[n-1].Estimate), SE: report.Number(shares[n-1].SE)}
}

func propertiesOf(p *problem.Problem) []report.Property {
	properties := make([]report.Property, len(p.Properties))
	for k, w := range p.Properties {
		properties[k] = report.Property{Name: w.Name, Kind: w.Kind, About: w.About, Weight: w.Weight}
		if w.Forest != nil {
			properties[k].Forest = forestOf(w.Forest)
		}
	}
	return properties
}

func forestOf(f *model.Forest) *report.Forest {
	out := &report.Forest{Label: f.Label(), Trees: f.Trees(), Rows: f.Rows(), Classes: f.Classes(), Quality: f.Quality()}
	features := f.Features()
	for k, i := range f.Importances() {
		if i.Mean > 0 {
			out.Importances = append(out.Importances, report.Importance{Feature: features[k].Name, Mean: report.Number(i.Mean), SE: report.Number(i.SE)})
		}
	}
	slices.SortStableFunc(out.Importances, func(a, b report.Importance) int { return cmp.Compare(b.Mean, a.Mean) })
	out.Importances = out.Importances[:min(len(out.Importances), shownImportances)]
	return out
}

// shownImportances is of how many features the importance is told.
const shownImportances = 15

// forestWarnings says which forests have learnt nothing.
func forestWarnings(p *problem.Problem) []string {
	warnings := []string{}
	for _, w := range p.Properties {
		if w.Forest == nil {
			continue
		}
		q := w.Forest.Quality()
		if q.Classes != nil && q.Classes.Guessing() || q.Numbers != nil && q.Numbers.Guessing() {
			warnings = append(warnings, fmt.Sprintf("The forest for %s predicts recipes that it has not seen no better than guessing: its scores say little. Add recipes, merge rare classes, or drop the property.", w.Name))
		}
	}
	return warnings
}

// Training says what there is to say of a forest and the file it was saved
// in, if any.
func Training(f *model.Forest, file string) *report.Training {
	o := f.Options()
	return &report.Training{
		Forest: *forestOf(f), Seed: o.Seed,
		Features: o.FeaturesPerSplit, Leaf: o.SmallestLeaf, Deepest: f.Shape().Deepest, File: file, Choice: f.Choice(),
	}
}
