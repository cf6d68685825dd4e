package campaign

import (
	"math"
	"slices"

	"kir/internal/portable"
)

// computedDesirability returns the product of a recipe's desirabilities in the objectives that are
// computed and not learnt.
func (ch *batchOptimizer) computedDesirability(r recipe) (float64, error) {
	if len(ch.computedObjectivesTarget.Objectives()) == 0 {
		return 1, nil
	}
	x, err := ch.campaign.toComposition(r)
	if err != nil {
		return 0, err
	}
	scores, err := ch.computedObjectivesTarget.AppendScores(nil, x)
	if err != nil {
		return 0, ch.campaign.Problem.Explain(err)
	}
	y := 1.0
	for k, w := range ch.computedObjectivesTarget.Objectives() {
		if w.Weight > 0 {
			y = float64(y * portable.Pow(scores[k], w.Weight))
		}
	}
	return y, nil
}

// modelDraws returns joint draws of the models' values. Element [k][s][a] is the value of recipe a
// in draw s of learnt objective k.
func (ch *batchOptimizer) modelDraws(recipes []recipe) (all [][][]float64) {
	learnt := ch.learntObjectives()
	for k, o := range learnt {
		if at := slices.IndexFunc(learnt[:k], func(b *learntObjective) bool { return b.model == o.model }); at >= 0 {
			all = append(all, all[at])
			continue
		}
		all = append(all, o.model.Draws(recipes, drawCount, ch.newRand(drawStreamName, uint64(k))))
	}
	return all
}

// utilitiesOfDraws converts draws of the models' values, as [batchOptimizer.modelDraws] returns them, to
// utilitiesOfDraws. Element [s][a] is the utility of recipe a in draw s.
func (ch *batchOptimizer) utilitiesOfDraws(recipes []recipe, draws [][][]float64) ([][]float64, error) {
	if ch.soleObjective() != nil {
		return draws[0], nil
	}
	out := make([][]float64, drawCount)
	for s := range out {
		out[s] = make([]float64, len(recipes))
	}
	for a, x := range recipes {
		y, err := ch.computedDesirability(x)
		if err != nil {
			return nil, err
		}
		for s := range out {
			out[s][a] = y
		}
	}
	for k, o := range ch.learntObjectives() {
		for s := range out {
			for a := range recipes {
				out[s][a] = float64(out[s][a] * portable.Pow(o.predictedDesirability(draws[k][s][a]), o.weight))
			}
		}
	}
	return out, nil
}

// studentDraws widens draws, because a model may underestimate its own uncertainty. In each draw,
// the deviations of all recipes from their means are multiplied by one random factor. Normal draws
// then follow a Student distribution with studentDegreesOfFreedom degrees of freedom.
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

// predictedUtility returns the utility that recipe x has if the value of every model equals its
// predicted mean.
func (ch *batchOptimizer) predictedUtility(x recipe) (float64, error) {
	if o := ch.soleObjective(); o != nil {
		mean, _ := o.model.Predict(x)
		return mean, nil
	}
	y, err := ch.computedDesirability(x)
	if err != nil {
		return 0, err
	}
	for _, o := range ch.learntObjectives() {
		mean, _ := o.model.Predict(x)
		y = float64(y * portable.Pow(o.predictedDesirability(mean), o.weight))
	}
	return y, nil
}

// countingObjectives returns the objectives that have a weight.
func countingObjectives(objectives []*learntObjective) []*learntObjective {
	return slices.DeleteFunc(slices.Clone(objectives), func(o *learntObjective) bool { return o.weight == 0 })
}

// objectiveMeasurements returns what was measured in the trials. Item [k][i] belongs to trial k and
// to objective i of those with a weight. It is the number of a numeric label, the desirability of a
// class, or NaN if nothing was measured. The result is nil if no objective has a weight.
func (c *Campaign) objectiveMeasurements(objectives []*learntObjective) ([][]float64, error) {
	counts := countingObjectives(objectives)
	if len(counts) == 0 {
		return nil, nil
	}
	values := make([][]float64, len(c.trials))
	for k := range values {
		values[k] = make([]float64, len(counts))
	}
	for i, o := range counts {
		numbers, classes, err := c.measuredValues(o.learningSettings)
		if err != nil {
			return nil, err
		}
		for k := range values {
			switch {
			case o.learningSettings.Numeric:
				values[k][i] = numbers[k]
			case classes[k] == "":
				values[k][i] = math.NaN()
			default:
				values[k][i] = o.measuredDesirability(0, classes[k])
			}
		}
	}
	return values, nil
}

// measuredUtility returns the product of the desirabilities of a recipe, from its measurements in
// the objectives that count; see [Campaign.objectiveMeasurements]. It is −∞ if a measurement breaks
// a limit.
func (ch *batchOptimizer) measuredUtility(of recipe, counts []*learntObjective, measurements []float64) (float64, error) {
	y, err := ch.computedDesirability(of)
	if err != nil {
		return 0, err
	}
	for i, o := range counts {
		v := measurements[i]
		if o.learningSettings.Numeric {
			v = o.measuredDesirability(v, "")
		}
		if o.learningSettings.Limit != nil && v == 0 {
			return math.Inf(-1), nil
		}
		y = float64(y * portable.Pow(v, o.weight))
	}
	return y, nil
}

// measuredUtilities returns the utility of each trial by its measurements. It is NaN for a trial
// that failed, breaks a rule, or was not measured in all objectives.
func (ch *batchOptimizer) measuredUtilities() ([]float64, error) {
	utilities := make([]float64, len(ch.campaign.trials))
	values, err := ch.campaign.objectiveMeasurements(ch.objectives)
	if err != nil {
		return nil, err
	}
	counts := countingObjectives(ch.objectives)
	for k, t := range ch.campaign.trials {
		if utilities[k] = math.NaN(); values == nil || t.failed || len(t.brokenRules) > 0 || slices.ContainsFunc(values[k], math.IsNaN) {
			continue
		}
		if utilities[k], err = ch.measuredUtility(t.recipe, counts, values[k]); err != nil {
			return nil, err
		}
	}
	return utilities, nil
}
