package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kir/internal/compile"
	"kir/internal/testonly/kernelbench"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// A subject is a target that is hard.
type subject struct {
	key, name string
	make      func(ctx context.Context, root string) (*made, error)

	best    float64 // the highest log score that is known, rounded down
	stretch float64 // how many times longer it is measured by its clock; 0: 1
}

// made is a subject's target, and the clock that it is measured by.
type made struct {
	target *mcmc.Target
	clock  kernelbench.Clock
	close  func() error
}

func byProcessor(t *mcmc.Target, err error) (*made, error) {
	return &made{t, kernelbench.CPU, func() error { return nil }}, err
}

// subjects are all targets. The best that is known of the lattice is that of the
// portfolio.
var subjects = []subject{
	{key: "cocktails1", name: "cocktails, weight 1", make: cocktails(1)},
	{key: "cocktails30", name: "cocktails, weight 30", make: cocktails(30)},
	{key: "cocktails300", name: "cocktails, weight 300", make: cocktails(300)},
	{key: "portfolio", name: "portfolio, ten of 30 assets, total 1,000", make: portfolio(1000), best: 43.702642},
	{key: "lattice", name: "the same, a lattice of 1,000,000", make: portfolio(1_000_000), best: 43.702642},
	{key: "process", name: "three Gaussian processes: the spritz", make: example("spritz"), best: -0.1968092},
	{key: "predicted", name: "cocktails, Fresh with a chance of at least 60 %", make: predicted, best: -0.2338682},
	{key: "fragrance", name: "fragrance of 2,000 ingredients", make: example("fragrance"), best: -0.0003125},
	{key: "regions", name: "two regions", make: regions},
	{key: "limits", name: "tight limits: the lotion", make: example("lotion")},
	{key: "document", name: "document of 10,000 words, 50 topics", make: document, best: -1055.34388},
	{key: "program", name: "a program of 1 ms a call", make: program, stretch: 10},
	{key: "million", name: "1,000,000 ingredients and a forest", make: million, best: -2.61364765},
	{key: "boosted", name: "an imported boosted model, weight 30", make: boosted, best: -4.5267989},
}

// example returns the target of an example.
func example(name string) func(ctx context.Context, root string) (*made, error) {
	return func(ctx context.Context, root string) (*made, error) {
		p, err := compile.Load(ctx, filepath.Join(root, "examples", name, "problem.yaml"), compile.Options{})
		if err != nil {
			return nil, err
		}
		return byProcessor(p.Target, nil)
	}
}

// changed returns the target of an example of which some lines are others.
func changed(ctx context.Context, root, name string, lines ...string) (*mcmc.Target, error) {
	path := filepath.Join(root, "examples", name, "problem.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for k := 0; k < len(lines); k += 2 {
		if !strings.Contains(string(text), lines[k]) {
			return nil, fmt.Errorf("%s has no %q", path, lines[k])
		}
	}
	text = []byte(strings.NewReplacer(lines...).Replace(string(text)))
	p, err := compile.Load(ctx, path, compile.Options{Text: text})
	if err != nil {
		return nil, err
	}
	return p.Target, nil
}

func cocktails(weight int) func(ctx context.Context, root string) (*made, error) {
	w := fmt.Sprintf("}, weight: %d}", weight)
	return func(ctx context.Context, root string) (*made, error) {
		return byProcessor(changed(ctx, root, "cocktails", "want: Fresh}}", "want: Fresh"+w, "want: All day}}", "want: All day"+w))
	}
}

// predicted is the cocktails with a bound on what a model predicts.
func predicted(ctx context.Context, root string) (*made, error) {
	return byProcessor(changed(ctx, root, "cocktails", "properties:", "constraints:\n  - limit: {property: taste, min: \"60%\"}\nproperties:"))
}

func portfolio(total int) func(ctx context.Context, root string) (*made, error) {
	return func(ctx context.Context, root string) (*made, error) {
		return byProcessor(changed(ctx, root, "portfolio", "total: 100 ", fmt.Sprintf("total: %d ", total), "{uniform: [5, 10]}", "{uniform: [10, 10]}"))
	}
}

// regions are two that are equally good and have nothing in common: all of the total
// among the first half of the ingredients, and all of it among the last. Half-way
// between them lies e^−150.
func regions(context.Context, string) (*made, error) {
	space, err := mcmc.NewSpace(20, 40)
	if err != nil {
		return nil, err
	}
	return byProcessor(mcmc.NewTarget(space, mcmc.Uniform(4, 6), mcmc.Objective{Name: "one side", Weight: 150, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		first := 0
		for _, i := range x.Ingredients() {
			if int(i) < x.N()/2 {
				first += x.Amount(int(i))
			}
		}
		return math.Exp(math.Abs(2*float64(first)/float64(x.Total())-1) - 1)
	})}))
}

// document is of 10,000 words of a vocabulary of 2,000, drawn from 5 of 50 topics.
func document(context.Context, string) (*made, error) {
	const topics, vocabulary, words, total = 50, 2000, 10_000, 100
	r := rand.New(rand.NewPCG(1, 1))
	laws := make([][]float64, topics)
	for t := range laws {
		laws[t] = make([]float64, vocabulary)
		sum := 0.0
		for w := range laws[t] {
			laws[t][w] = math.Pow(r.ExpFloat64(), 3)
			sum += laws[t][w]
		}
		for w := range laws[t] {
			laws[t][w] /= sum
		}
	}
	counts := make([]int, vocabulary)
	for k := range words {
		u, w := r.Float64(), 0
		for law := laws[7*(k%5)]; w < vocabulary-1 && u > law[w]; w++ {
			u -= law[w]
		}
		counts[w]++
	}
	var there []int
	rows := make([][]float64, topics)
	for w, n := range counts {
		if n == 0 {
			continue
		}
		there = append(there, n)
		for t := range rows {
			rows[t] = append(rows[t], laws[t][w])
		}
	}
	d, err := property.NewDocument(rows, there, total)
	if err != nil {
		return nil, err
	}
	space, err := mcmc.NewSpace(topics, total)
	if err != nil {
		return nil, err
	}
	return byProcessor(mcmc.NewTarget(space, mcmc.Uniform(1, 10), mcmc.Objective{Name: "words", Property: d, Weight: 1}))
}

// million is a forest over the totals of 20 families of 50,000 ingredients each.
func million(ctx context.Context, _ string) (*made, error) {
	const families, each, total, rows = 20, 50_000, 1_000_000, 400
	d := &model.Data{Label: "fit", Total: total}
	for f := range families {
		feature := model.Feature{Name: fmt.Sprint("family ", f)}
		for range each {
			feature.Ingredients = append(feature.Ingredients, int32(len(d.Ingredients)))
			d.Ingredients = append(d.Ingredients, fmt.Sprint(len(d.Ingredients)))
		}
		d.Features = append(d.Features, feature)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range rows {
		var parts []model.Part
		left, first := total, 0
		for f := range families {
			amount := left
			if f < families-1 {
				amount = int(float64(left) * math.Pow(r.Float64(), 3))
			}
			if left -= amount; amount > 0 {
				parts = append(parts, model.Part{Ingredient: int32(f*each + r.IntN(each)), Amount: int32(amount)})
			}
			if f < 3 {
				first += amount
			}
		}
		class := "no"
		if first > 700_000 && first < 900_000 {
			class = "yes"
		}
		d.Rows, d.Classes = append(d.Rows, parts), append(d.Classes, class)
	}
	f, err := model.Grow(ctx, d, model.Options{Splits: model.BestSplits, Seed: 1})
	if err != nil {
		return nil, err
	}
	score, err := f.Score(model.AnyOf("yes"))
	if err != nil {
		return nil, err
	}
	space, err := mcmc.NewSpace(families*each, total)
	if err != nil {
		return nil, err
	}
	return byProcessor(mcmc.NewTarget(space, mcmc.Uniform(45, 55), mcmc.Objective{Name: "fit", Property: property.NewForest(score, 0.001), Weight: 10}))
}

// boosted is a model of 20 inputs by scikit-learn's gradient boosting.
func boosted(ctx context.Context, root string) (*made, error) {
	const inputs = 20
	var names []string
	for i := range inputs {
		names = append(names, fmt.Sprint("x", i))
	}
	list := "[" + strings.Join(names, ", ") + "]"
	text := "name: boosted\ntotal: 1000\nsparsity: {uniform: [3, 6]}\ningredients: " + list +
		"\nproperties:\n  value: {model: {file: gb-number.onnx, maximize: true, features: " + list + "}, weight: 30}\n"
	p, err := compile.Load(ctx, filepath.Join(root, "bench", "models", "testdata", "boosted.yaml"), compile.Options{Text: []byte(text)})
	if err != nil {
		return nil, err
	}
	return byProcessor(p.Target, nil)
}

// perCall is what the program of [program] is said to take for each call.
const perCall = 0.001

// program is measured by a clock that tells kir's own time and a millisecond for each
// call: so what counts is how well kir asks.
func program(ctx context.Context, root string) (*made, error) {
	target, scorer, err := tasted(ctx, root, 10)
	if err != nil {
		return nil, err
	}
	clock := func() float64 {
		calls, _ := scorer.CallCounts()
		return kernelbench.CPU() + perCall*float64(calls)
	}
	return &made{target, clock, scorer.Close}, nil
}

// tasted is one property of the cocktails, in 50 units, that this program scores when
// it is run by itself.
func tasted(ctx context.Context, root string, weight float64) (*mcmc.Target, *property.Program, error) {
	p, err := compile.Load(ctx, filepath.Join(root, "examples", "cocktails", "problem.yaml"), compile.Options{})
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	space, err := mcmc.NewSpace(len(p.Ingredients), scorerTotal)
	if err != nil {
		return nil, nil, err
	}
	scorer, err := property.NewProgram(property.ProgramOptions{
		Command: []string{self, scorerMode}, Dir: root, Ingredients: p.Ingredients, Total: scorerTotal, Timeout: time.Minute, Processes: 1, Batch: 16,
	})
	if err != nil {
		return nil, nil, err
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5), mcmc.Objective{Name: "taste", Property: scorer, Weight: weight})
	if err != nil {
		return nil, nil, err
	}
	return target, scorer, nil
}
