package campaign

import (
	"context"
	"errors"
	"math"
	"slices"

	"kir/mcmc"
	"kir/model"
)

// A forestEnsemble has many small random forests grown from the same data. Each forest is one draw
// of the probability that a recipe has a wanted class.
type forestEnsemble struct {
	forestScores    []*model.Score // item k is the score of forest k, which gives the probability of the wanted classes
	ingredientCount int            // number of ingredients
	r2              float64        // R² of a larger forest on held-out rows; NaN if unknown
}

// An ensemble has forestCount forests of treesPerForest trees each. With few training rows, the
// forests of this size disagree about as much as the probability is uncertain. Single trees would
// disagree as much as the class itself varies, because every leaf has only one row.
const (
	forestCount    = 64
	treesPerForest = 5
)

// errNothingToLearn is the error if no measurement has a wanted class, so that no model can be
// learnt yet.
var errNothingToLearn = errors.New("nothing was measured that a model can be learnt from")

// newForestEnsemble grows the forests from training data whose values are classes. The parameter
// want says which classes are wanted.
func newForestEnsemble(ctx context.Context, data *model.Data, want model.Want, seed uint64) (*forestEnsemble, error) {
	w := &forestEnsemble{ingredientCount: len(data.Ingredients), r2: math.NaN()}
	for k := range forestCount {
		f, err := model.Grow(ctx, data, model.Options{Trees: treesPerForest, SmallestLeaf: 1, Seed: seed + uint64(k)<<32})
		if err != nil {
			return nil, err
		}
		score, err := f.Score(want)
		if err != nil {
			return nil, errNothingToLearn // no row has a wanted class
		}
		w.forestScores = append(w.forestScores, score)
	}
	whole, err := model.Grow(ctx, data, model.Options{Trees: qualityForestTrees, SmallestLeaf: 1, Seed: seed})
	if err != nil {
		return nil, err
	}
	if q := whole.Quality().Classes; q != nil {
		w.r2 = q.Skill
	}
	return w, nil
}

// qualityForestTrees is the number of trees of the larger forest whose R² is reported.
const qualityForestTrees = 100

// probabilities returns one probability per forest that a recipe has a wanted class. Concurrent
// calls are safe.
func (w *forestEnsemble) probabilities(x recipe) []float64 {
	amounts := make([]int32, w.ingredientCount)
	for _, p := range slices.Concat(x.parts, x.conditionCodes) {
		amounts[p.Ingredient] = int32(p.Amount)
	}
	out := make([]float64, len(w.forestScores))
	for k, s := range w.forestScores {
		out[k] = s.Probability(s.Point(amounts))
	}
	return out
}

// Predict implements [Surrogate].
func (w *forestEnsemble) Predict(x recipe) (mean, sd float64) {
	all := w.probabilities(x)
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		sd += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	return mean, math.Sqrt(sd)
}

// Draws implements [Surrogate]. Each draw comes from one forest.
func (w *forestEnsemble) Draws(xs []recipe, count int, _ *mcmc.Rand) [][]float64 {
	draws := make([][]float64, count)
	for s := range draws {
		draws[s] = make([]float64, len(xs))
	}
	for a, x := range xs {
		all := w.probabilities(x)
		for s := range draws {
			draws[s][a] = all[s%len(all)]
		}
	}
	return draws
}

// Noise implements [Surrogate].
func (w *forestEnsemble) Noise() float64 { return 0 }

// R2 implements [Surrogate].
func (w *forestEnsemble) R2() float64 { return w.r2 }

// IntervalScale implements [Surrogate].
func (w *forestEnsemble) IntervalScale() float64 { return 1 }
