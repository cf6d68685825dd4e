package view

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"kir/internal/dataset/sheet"
	"kir/internal/diagnose"
	"kir/internal/report"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/internal/testonly/golden"
	"kir/mcmc"
	"kir/model"
)

// TestKindsAsBefore shows what one problem does not have all at once: rules that are
// measured or looked at, very many sizes, breaches and predictions of every kind,
// forests of numbers and of a choice, comparisons of much and of nothing, sheets
// without costs.
func TestKindsAsBefore(t *testing.T) {
	var b bytes.Buffer
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	unknown := report.UnknownNumber()
	share := func(of, se report.Number) *mcmc.UncountedRuleShare {
		return &mcmc.UncountedRuleShare{Estimate: float64(of), SE: float64(se)}
	}
	numbers := model.Quality{Rows: 30, Numbers: &model.NumberQuality{R2: 0.51, R2SE: 0.04, RMSE: 1.234, PriorRMSE: 2.5, CRPS: 0.7, CRPSSE: 0.12, PriorCRPS: 1.3, Coverage50: 0.48, Coverage90: 0.91, Reliability: []model.Bin{{Low: 0.3, Predicted: 0.35, Observed: 0.4, Events: 5}}}}
	classes := model.Quality{Rows: 9, Classes: &model.ClassQuality{Accuracy: 0.7, AccuracySE: 0.1, Majority: "a", MajorityAccuracy: 0.5, LogLoss: 0.6, LogLossSE: 0.05, PriorLogLoss: 0.69, Confusion: [][]int{{3, 1}, {2, 3}}, Reliability: []model.Bin{{Low: 0.9, Predicted: 0.95, Observed: 1, Events: 2}}}}
	for _, c := range []*report.Check{
		{Problem: report.Problem{Name: "measured", Ingredients: 5, Total: 9}, Sampler: mcmc.Settings{Kernel: "balanced"}, WhyUntabled: "exact counting would need more than 1e+09 cells", Compositions: big.NewInt(123456),
			Sizes:      []report.SpaceSize{{N: 1, Target: 0.25, Compositions: big.NewInt(5), Share: share(1, 0)}, {N: 2, Target: 0.75, Compositions: big.NewInt(1234), Share: share(0.01234, 0.000456)}},
			Properties: []report.Property{{Name: "y", About: "a formula", Weight: 2.5}, {Name: "z", About: "z as large as possible", Weight: 1, Forest: &report.Forest{Trees: 10, Rows: 30, Quality: numbers}}, {Name: "u", About: "unknown", Forest: &report.Forest{Trees: 1, Rows: 3}}},
			Kernel:     run.Advice{Kernel: "balanced", Because: "it mixes fastest"}, Warnings: []string{"one", strings.Repeat("a long warning ", 12)}},
		{Problem: report.Problem{Name: "looked at", Ingredients: 5, Total: 9}, Sampler: mcmc.Settings{Kernel: "gibbs"}, Sizes: []report.SpaceSize{{N: 1, Target: 1, Share: share(0.5, 0)}}, Kernel: run.Advice{Kernel: "exact", Because: "it is"}},
		{Problem: report.Problem{Name: "of no size"}},
	} {
		must(Check(&b, c))
		b.WriteString("----\n")
	}
	many := &report.Check{Problem: report.Problem{Name: "many"}}
	for n := range 40 {
		many.Sizes = append(many.Sizes, report.SpaceSize{N: n + 1, Target: 0.025, Compositions: big.NewInt(int64(n))})
	}
	must(Check(&b, many))
	many.Sizes = append(many.Sizes, many.Sizes[0])
	must(Check(&b, many))

	card := &report.Scorecard{
		Problem:    report.Problem{Total: 100},
		Properties: []report.Property{{Name: "y", About: "y", Weight: 1}, {Name: "z", About: "z", Weight: 1}, {Name: "a", About: "a", Weight: 0}},
		Recipes: []report.ScoredRecipe{
			{Recipe: "none broken", Used: 3, Score: 0.5, Scores: map[string]report.Number{"y": 0.5, "z": 1, "a": unknown}, Predicted: map[string]report.Prediction{"z": {Value: 3.14159, Low: 1.5, High: 5.25}, "a": {Value: 7, Low: unknown, High: unknown}}},
			{Recipe: strings.Repeat("a long name ", 9), Used: 1, Score: unknown, Scores: map[string]report.Number{"y": 0, "z": 0.25, "a": 0.75}, Book: "Daiquiri", OutOfBag: true, Broken: []report.Breach{
				{Rule: "never a, b", Value: unknown, Bound: unknown}, {Rule: "amount of gin max 60", Ingredient: "gin", Unit: "units", Value: 61, Bound: 60}, {Rule: "amount of gin min 60", Ingredient: "gin", Unit: "units", Value: 1, Bound: 60},
				{Rule: "group", Unit: "units", Value: 7.5, Bound: 9}, {Rule: "used", Unit: "ingredients", Value: 4, Bound: 3}, {Rule: "used", Unit: "ingredients", Value: 2, Bound: 3}, {Rule: "mean", Unit: "abv", Value: 21.98765, Bound: 20}, {Rule: "no bound", Unit: "abv", Value: 1, Bound: unknown}, {Rule: "no value", Unit: "abv", Value: unknown, Bound: 1},
			}},
		},
	}
	must(Scorecard(&b, card, terminal.Style{}))
	must(sheet.WriteCSV(&b, ScoreSheet(card)))
	card.Recipes, card.Properties = card.Recipes[:1], nil
	must(Scorecard(&b, card, terminal.Style{}))

	tried := []model.CandidateResult{{Name: "plain", Loss: 0.9, SE: 0.1}, {Name: "rich", Loss: 0.7, SE: 0.09, Gain: 0.2, GainSE: 0.05}}
	for _, of := range []*report.Training{
		{Forest: report.Forest{Label: "kind", Trees: 10, Rows: 9, Classes: []string{"a", "b"}, Quality: classes, Importances: []report.Importance{{Feature: "gin", Importance: model.Importance{Mean: 0.12345, SE: 0.01}}}}, File: "a\x1bb.json", Choice: &model.CandidateChoice{Repeats: 3, Folds: 5, Loss: "log loss", Tried: tried, Chosen: 1}},
		{Forest: report.Forest{Label: "rating", Trees: 10, Rows: 30, Quality: numbers, Importances: []report.Importance{{Feature: "gin", Importance: model.Importance{Mean: 0.12345, SE: 0.01}}}}, Choice: &model.CandidateChoice{Repeats: 1, Folds: 2, Loss: "CRPS", Tried: tried}},
		{Forest: report.Forest{Label: "none", Trees: 1, Rows: 3}},
	} {
		must(Training(&b, of))
		b.WriteString("----\n")
	}

	d := &report.Difference{A: "a\x1b", B: "b", FalseAlarm: 0.05, Notes: []string{"A note.", strings.Repeat("a long note ", 12)}}
	must(Difference(&b, d, terminal.Style{}))
	d.ProblemDiff, d.Notes = "--- a\n+++ b\n-x\r\n+y\x1b\n", nil
	for k, kind := range []string{"used", "amount", "n", "mean", "score"} {
		for n := range 11 + k {
			d.Figures = append(d.Figures, report.FigureChange{Kind: kind, Of: fmt.Sprint(kind, n), A: 0.5, B: report.Number(n), SEA: 0.03, SEB: 0.04, Sure: n != 1})
		}
	}
	d.Stayed = []report.CommonRecipe{{A: report.ShortlistEntry{Rank: 1, Score: 0.5, Recipe: map[string]int{"gin": 3, "rum": 4}}, B: report.ShortlistEntry{Rank: 2, Score: 0.25, Recipe: map[string]int{"gin": 3, "rum": 5}}}}
	d.OnlyInA, d.OnlyInB = []report.ShortlistEntry{{Rank: 2, Score: unknown, Recipe: map[string]int{strings.Repeat("a long name ", 9): 7}}}, []report.ShortlistEntry{{Rank: 9, Score: 1, Recipe: map[string]int{"gin": 1, "ice": 1}}}
	must(Difference(&b, d, terminal.Style{}))

	w := &report.Weighing{Title: "<sour>", Batch: "1 l", Unit: "ml", Step: "5", Sum: "1000", Cost: unknown, Notes: []string{"A note & more."}, Rows: []report.WeighedRow{
		{Group: "spirit", Ingredient: "Gin", Amount: "600", RunningSum: "600", Exact: 598.7654321, ExactText: "598.8", Percent: 60, PercentText: "60", Cost: 1.5}, {Group: "spirit", Ingredient: "Rum", Amount: "100", RunningSum: "700", Exact: 100, ExactText: "100", Percent: 10, PercentText: "10", Cost: unknown}, {Ingredient: "=Ice", Amount: "300", RunningSum: "1000", Exact: 300, ExactText: "300", Percent: 30, PercentText: "30", Cost: 0},
	}}
	for range 2 {
		must(Weighing(&b, w, terminal.Style{}))
		must(WeighingPage(&b, w))
		must(sheet.WriteCSV(&b, WeighingSheet(w)))
		w.Cost, w.Notes = 2.345, nil
	}

	m := madeOf[report.Model](t, "summary.json")
	m.Ladders, m.LogZ, m.Grade, m.Files, m.Moves, m.Answer = nil, nil, report.Unsound, nil, nil, nil
	m.Properties = m.Properties[:1]
	for k := range m.Sparsity {
		m.Sparsity[k].Share = share(report.Number(k)/4, report.Number(k)/1000)
	}
	few, none := errors.New("few draws"), errors.New("no draws")
	m.Statistics["used"] = run.Statistic{Summary: diagnose.Summary{Undefined: diagnose.Reasons{
		{Figure: "RHat", Err: few}, {Figure: "ESSBulk", Err: few}, {Figure: "Mean", Err: none}, {Figure: "Q95", Err: none},
	}}}
	must(Text(&b, m, "runs/it", terminal.Style{Color: true}))
	for len(m.Sparsity) < 41 {
		m.Sparsity = append(m.Sparsity, m.Sparsity[0])
	}
	for k := range m.Sparsity {
		m.Sparsity[k].Share = nil
	}
	m.Properties, m.Sparsity, m.Again.Command, m.Best, m.Problem.Rules = nil, m.Sparsity[:41], "kir sample it", nil, m.Problem.Rules[:1]
	must(Text(&b, m, "runs/it", terminal.Style{}))

	// Ladders of no steps, with as many rungs and of as many chains as are shown, and more.
	estimate := &run.Estimate{Value: -3.125, SE: 0.625}
	for k, rungs := range []int{1, maxTextRungs, maxTextRungs + 1, maxTextRungs + 2} {
		m := &report.Model{LogZ: estimate}
		for chain := range maxTextLadders - 1 + k {
			l := run.Ladder{Chain: chain, Scans: 100, RoundTrips: int64(50 - chain), Restarts: 51, Barrier: 1.5, LogZ: *estimate}
			for g := range rungs {
				l.Rungs = append(l.Rungs, run.Rung{Beta: report.Number(g) / 64, Rejected: 0.25, Barrier: report.Number(g) / 4, MeanLogScore: report.Number(-g)})
			}
			l.Rungs[rungs-1].Rejected = unknown
			m.Ladders = append(m.Ladders, l)
		}
		p := terminal.NewPrinter(&b, terminal.Style{})
		writeLadders(m, p, "r")
		must(p.Err)
	}
	golden.Compare(t, "testdata/kinds.txt", b.Bytes())
}
