package campaign

import (
	"context"
	"errors"
	"math"
	"slices"

	"kir/mcmc"
	"kir/model"
)

// A forestEnsemble has small forests grown from the same data. Each is one draw of the
// probability of a class.
type forestEnsemble struct {
	scores      []*model.Score
	ingredients int
	r2          float64
}

// The ensemble has forestCount forests of forestTrees trees each. With few rows, the spread of
// forests of this size is close to the uncertainty of the probability. Single trees have
// leaves of one row, so their spread is that of the class itself.
const (
	forestCount = 64
	forestTrees = 5
)

// errNotYet reports that there is nothing to learn a model from yet.
var errNotYet = errors.New("nothing was measured that a model can be learnt from")

// newForestEnsemble grows the forests for the classes of data.
func newForestEnsemble(ctx context.Context, data *model.Data, want model.Want, seed uint64) (*forestEnsemble, error) {
	w := &forestEnsemble{ingredients: len(data.Ingredients), r2: math.NaN()}
	for k := range forestCount {
		f, err := model.Grow(ctx, data, model.Options{Trees: forestTrees, SmallestLeaf: 1, Seed: seed + uint64(k)<<32})
		if err != nil {
			return nil, err
		}
		score, err := f.Score(want)
		if err != nil {
			return nil, errNotYet // no row has a wanted class
		}
		w.scores = append(w.scores, score)
	}
	whole, err := model.Grow(ctx, data, model.Options{Trees: judgeTrees, SmallestLeaf: 1, Seed: seed})
	if err != nil {
		return nil, err
	}
	if q := whole.Quality().Classes; q != nil {
		w.r2 = q.Skill
	}
	return w, nil
}

// judgeTrees is the number of trees of the forest whose skill is reported as R².
const judgeTrees = 100

// values returns the probability by forest. It is safe for concurrent use.
func (w *forestEnsemble) values(x recipe) []float64 {
	amounts := make([]int32, w.ingredients)
	for _, p := range slices.Concat(x.parts, x.codes) {
		amounts[p.Ingredient] = int32(p.Amount)
	}
	out := make([]float64, len(w.scores))
	for k, s := range w.scores {
		out[k] = s.Probability(s.Point(amounts))
	}
	return out
}

// Predict implements [Surrogate].
func (w *forestEnsemble) Predict(x recipe) (mean, sd float64) {
	all := w.values(x)
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		sd += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	return mean, math.Sqrt(sd)
}

// Draws implements [Surrogate]: each draw is one forest.
func (w *forestEnsemble) Draws(xs []recipe, count int, _ *mcmc.Rand) [][]float64 {
	draws := make([][]float64, count)
	for s := range draws {
		draws[s] = make([]float64, len(xs))
	}
	for a, x := range xs {
		all := w.values(x)
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
