package campaign

import (
	"context"
	"errors"
	"math"

	"kir/mcmc"
	"kir/model"
)

// forestEnsemble are small forests of the same data, each of which is a draw of what the
// probability of a class may be.
type forestEnsemble struct {
	scores      []*model.Score
	ingredients int
	r2          float64
}

// How many small forests there are, and how many trees each has. The spread of as many
// trees together is near what is not known of the probability where rows are few; that of
// single trees, whose leaves hold one row, is that of the class itself.
const (
	forestCount = 64
	forestTrees = 5
)

// errNotYet says that there is nothing to learn from yet.
var errNotYet = errors.New("nothing was measured that a model can be learnt from")

// newForestEnsemble grows forests of classes.
func newForestEnsemble(ctx context.Context, data *model.Data, want model.Want, seed uint64) (*forestEnsemble, error) {
	w := &forestEnsemble{ingredients: len(data.Ingredients), r2: math.NaN()}
	for k := range forestCount {
		f, err := model.Grow(ctx, data, model.Options{Trees: forestTrees, SmallestLeaf: 1, Seed: seed + uint64(k)<<32})
		if err != nil {
			return nil, err
		}
		score, err := f.Score(want)
		if err != nil {
			return nil, errNotYet // nothing of that class has been seen
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

// judgeTrees is of how many trees a forest says how well the class is predicted.
const judgeTrees = 100

// values returns the probability by each forest. Several walks may ask at once.
func (w *forestEnsemble) values(x []mcmc.Part) []float64 {
	amounts := make([]int32, w.ingredients)
	for _, p := range x {
		amounts[p.Ingredient] = int32(p.Amount)
	}
	out := make([]float64, len(w.scores))
	for k, s := range w.scores {
		out[k] = s.Probability(s.Point(amounts))
	}
	return out
}

// Predict implements [Surrogate].
func (w *forestEnsemble) Predict(x []mcmc.Part) (mean, sd float64) {
	all := w.values(x)
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		sd += (v - mean) * (v - mean) / float64(len(all)-1)
	}
	return mean, math.Sqrt(sd)
}

// Draws implements [Surrogate]: a draw is a forest.
func (w *forestEnsemble) Draws(xs [][]mcmc.Part, count int, _ *mcmc.Rand) [][]float64 {
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
