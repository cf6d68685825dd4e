package main

import (
	"context"
	"fmt"
	"math"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/model"
)

// A forecast is a model's prediction of one row beside the measurement.
type forecast struct {
	Error float64 `json:"error"` // of a number: mean − measured
	Loss  float64 `json:"loss"`  // CRPS, or −log of the probability of the row's class
	Held  bool    `json:"held"`  // of a number: it lies within the interval of 90 %
}

// A learner makes forecasts of the rows of test from what it learns of others.
type learner struct {
	name  string
	learn func(ctx context.Context, k *known, train, test *model.Data, seed uint64) ([]forecast, error)
}

// today is the name of what the others are compared with.
const today = "forest 5"

func learners() []learner {
	forest := func(o model.Options) func(context.Context, *known, *model.Data, *model.Data, uint64) ([]forecast, error) {
		return func(ctx context.Context, k *known, train, test *model.Data, seed uint64) ([]forecast, error) {
			o := o
			o.Seed = seed
			f, err := model.Grow(ctx, train, o)
			if err != nil {
				return nil, err
			}
			return foretell(f, test), nil
		}
	}
	return []learner{
		{today, forest(model.Options{Trees: 300, Splits: model.BestSplits})},
		{"forest", learn(model.ForestAlone)},
		{"process", learn(model.ProcessAlone)},
		{"learn", learn(model.BestKind)},
	}
}

// learn returns what kir learns.
func learn(kind model.ModelKind) func(context.Context, *known, *model.Data, *model.Data, uint64) ([]forecast, error) {
	return func(ctx context.Context, k *known, train, test *model.Data, seed uint64) ([]forecast, error) {
		if kind == model.ProcessAlone && train.Numbers == nil {
			return nil, nil
		}
		m, err := model.Learn(ctx, train, model.LearnOptions{Kind: kind, Forest: model.Options{Trees: 100, Seed: seed}, Features: features(k, kind)})
		if err != nil {
			return nil, err
		}
		if m.Numeric() {
			return foretellNumbers(test, m.Law, m.Predict), nil
		}
		return foretellClasses(test, m.Classes(), m.Shares, 0.5/float64(m.Forest().TreeCount())), nil
	}
}

// features are tried where kir learns the best that it can.
func features(k *known, kind model.ModelKind) []model.FeatureSet {
	if kind != model.BestKind {
		return nil
	}
	return compile.FeatureSets(k.ingredients, total)
}

// foretell holds a forest against rows.
func foretell(f *model.Forest, test *model.Data) []forecast {
	if f.Numeric() {
		return foretellNumbers(test, f.Law, f.Predict)
	}
	return foretellClasses(test, f.Classes(), f.Shares, 0.5/float64(f.TreeCount()))
}

func foretellNumbers(test *model.Data, law func([]int32) model.Distribution, predict func([]int32) model.Prediction) []forecast {
	all := make([]forecast, len(test.Rows))
	for r, row := range test.Rows {
		x := dense(row, len(test.Ingredients))
		y, p := test.Numbers[r], predict(x)
		all[r] = forecast{p.Value - y, law(x).CRPS(y), p.Low <= y && y <= p.High}
	}
	return all
}

// foretellClasses counts probabilities below least as that.
func foretellClasses(test *model.Data, classes []string, shares func([]int32) []float64, least float64) []forecast {
	all := make([]forecast, len(test.Rows))
	for r, row := range test.Rows {
		p := 0.0
		for c, share := range shares(dense(row, len(test.Ingredients))) {
			if classes[c] == test.Classes[r] {
				p = share
			}
		}
		all[r].Loss = -math.Log(max(p, least))
	}
	return all
}

// describe says how many ingredients a book has and what is known of them.
func describe(in *dataset.Ingredients) string {
	return fmt.Sprintf("%d ingredients, %d attributes", in.Len(), len(in.Attributes))
}
