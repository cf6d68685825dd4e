package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// fixedDesirability returns the product of a recipe's desirabilities in the objectives that are not
// learnt.
func (ch *batchOptimizer) fixedDesirability(r recipe) (float64, error) {
	if len(ch.fixedTarget.Objectives()) == 0 {
		return 1, nil
	}
	x, err := ch.campaign.toComposition(r)
	if err != nil {
		return 0, err
	}
	scores, err := ch.fixedTarget.AppendScores(nil, x)
	if err != nil {
		return 0, ch.campaign.Problem.Explain(err)
	}
	y := 1.0
	for k, w := range ch.fixedTarget.Objectives() {
		if w.Weight > 0 {
			y = float64(y * portable.Pow(scores[k], w.Weight))
		}
	}
	return y, nil
}

// modelDraws returns joint draws of the models' values for the recipes xs. The result is indexed by
// learnt objective, draw and recipe.
func (ch *batchOptimizer) modelDraws(xs []recipe) (all [][][]float64) {
	learnt := ch.learntObjectives()
	for k, o := range learnt {
		if at := slices.IndexFunc(learnt[:k], func(b *learntObjective) bool { return b.model == o.model }); at >= 0 {
			all = append(all, all[at])
			continue
		}
		all = append(all, o.model.Draws(xs, drawCount, ch.newRand(drawStreamName, uint64(k))))
	}
	return all
}

// utilities converts draws of the models' values to utilities. The result is indexed by draw and
// recipe.
func (ch *batchOptimizer) utilities(xs []recipe, draws [][][]float64) ([][]float64, error) {
	if ch.soleObjective() != nil {
		return draws[0], nil
	}
	out := make([][]float64, drawCount)
	for s := range out {
		out[s] = make([]float64, len(xs))
	}
	for a, x := range xs {
		y, err := ch.fixedDesirability(x)
		if err != nil {
			return nil, err
		}
		for s := range out {
			out[s][a] = y
		}
	}
	for k, o := range ch.learntObjectives() {
		for s := range out {
			for a := range xs {
				out[s][a] = float64(out[s][a] * portable.Pow(o.predictedDesirability(draws[k][s][a]), o.weight))
			}
		}
	}
	return out, nil
}

// studentDraws widens draws, because a model may underestimate its own uncertainty. Each draw is
// stretched about the mean by one random factor for all recipes. The draws then follow a Student
// distribution with studentDegreesOfFreedom degrees of freedom instead of a normal distribution.
func (ch *batchOptimizer) studentDraws(draws [][][]float64) [][][]float64 {
	if len(draws) == 0 {
		return nil
	}
	by := make([]float64, len(draws[0]))
	r := ch.newRand(studentStreamName, 0)
	for s := range by {
		square := 0.0
		for range studentDegreesOfFreedom {
			z := drawNormal(r)
			square += float64(z * z)
		}
		by[s] = math.Sqrt(studentDegreesOfFreedom / square)
	}
	all := make([][][]float64, len(draws))
	for k, of := range draws {
		mean := make([]float64, len(of[0]))
		for _, draw := range of {
			for a, v := range draw {
				mean[a] += v / float64(len(of))
			}
		}
		for s, draw := range of {
			stretched := make([]float64, len(draw))
			for a, v := range draw {
				stretched[a] = mean[a] + float64(by[s]*(v-mean[a]))
			}
			all[k] = append(all[k], stretched)
		}
	}
	return all
}

// predictedUtility returns the utility of recipe x if every model's value equals its predicted
// mean.
func (ch *batchOptimizer) predictedUtility(x recipe) (float64, error) {
	if o := ch.soleObjective(); o != nil {
		mean, _ := o.model.Predict(x)
		return mean, nil
	}
	y, err := ch.fixedDesirability(x)
	if err != nil {
		return 0, err
	}
	for _, o := range ch.learntObjectives() {
		mean, _ := o.model.Predict(x)
		y = float64(y * portable.Pow(o.predictedDesirability(mean), o.weight))
	}
	return y, nil
}
