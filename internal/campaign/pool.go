package campaign

import (
	"math"
	"slices"
)

// A pool has candidate recipes with joint draws of their utilities.
type pool struct {
	recipes            []recipe
	scores             []float64   // log scores of the acquisition
	utility            [][]float64 // by draw, by recipe: candidates, then anchors, then pending recipes
	studentUtility     [][]float64 // like utility, for draws with Student's law
	anchors            []int       // indices of trials
	pendingRecipes     int         // number of pending recipes
	successProbability []float64   // by candidate: the probability that it does not fail

	bestPredicted    float64   // the best predicted utility of a trial
	trialUtilities   []float64 // by draw: the best utility of a trial
	incumbent        []float64 // by draw: the best utility of pending and chosen recipes, at least bestPredicted
	studentIncumbent []float64 // by Student draw: the utility of the trial with the best prediction
}

// newPool draws the utilities of candidates, anchors and pending recipes jointly. b is the
// best predicted utility of a trial.
func (ch *batchOptimizer) newPool(all []candidate, anchors []int, b float64) (*pool, error) {
	p := &pool{anchors: anchors, pendingRecipes: len(ch.pending), bestPredicted: b}
	for _, c := range all {
		ok := 1.0
		if ch.success != nil {
			ok, _ = ch.success.Predict(c.recipe)
		}
		p.recipes, p.scores, p.successProbability = append(p.recipes, c.recipe), append(p.scores, c.score), append(p.successProbability, ok)
	}
	xs := slices.Clone(p.recipes)
	for _, k := range anchors {
		xs = append(xs, ch.c.atGivenConditions(ch.c.trials[k].recipe))
	}
	for _, e := range ch.pending {
		xs = append(xs, e.recipe)
	}
	draws := ch.draws(xs)
	var err error
	if p.utility, err = ch.utilities(xs, draws); err != nil {
		return nil, err
	}
	if p.studentUtility, err = ch.utilities(xs, ch.studentDraws(draws)); err != nil {
		return nil, err
	}
	first, wait := len(p.recipes), len(p.recipes)+len(anchors)
	for _, draw := range p.utility {
		tried := math.Inf(-1)
		for _, v := range draw[first:wait] {
			tried = max(tried, v)
		}
		level := b
		for _, v := range draw[wait:] {
			level = max(level, v)
		}
		p.trialUtilities, p.incumbent = append(p.trialUtilities, tried), append(p.incumbent, level)
	}
	for _, draw := range p.studentUtility {
		rival := math.Inf(-1)
		if len(anchors) > 0 {
			rival = draw[first] // not the greatest of each draw, which would be great by chance where little is known
		}
		p.studentIncumbent = append(p.studentIncumbent, rival)
	}
	return p, nil
}

// bestUtilities returns the best utility of a draw over the recipes without a result,
// candidates and pending, and over the trials.
func (p *pool) bestUtilities(draw []float64) (left, tried float64) {
	left, tried = math.Inf(-1), math.Inf(-1)
	for k, v := range draw {
		if k < len(p.recipes) || k >= len(draw)-p.pendingRecipes {
			left = max(left, v)
		} else {
			tried = max(tried, v)
		}
	}
	return left, tried
}

// expectedGain returns the mean improvement of candidate k over the incumbent, times its probability
// of not failing, per cost.
func (ch *batchOptimizer) expectedGain(p *pool, k int) float64 {
	sum := 0.0
	for s, draw := range p.utility {
		sum += max(draw[k]-p.incumbent[s], 0)
	}
	sum = float64(sum / float64(len(p.utility)) * p.successProbability[k])
	return sum / ch.costDivisor(p.recipes[k].parts)
}

// utilitySD returns the standard deviation of a candidate's utility over the draws.
func (p *pool) utilitySD(k int) float64 {
	mean, sum := 0.0, 0.0
	for _, draw := range p.utility {
		mean += draw[k] / float64(len(p.utility))
	}
	for _, draw := range p.utility {
		sum += float64((draw[k] - mean) * (draw[k] - mean))
	}
	return math.Sqrt(sum / float64(len(p.utility)-1))
}

// improvementStats returns the probability that candidate k beats all trials, and its expected
// improvement over them. The probability comes from the Student draws, compared with the trial
// of the best prediction. The improvement is in the label's unit if there is a sole objective.
func (ch *batchOptimizer) improvementStats(p *pool, k int) (beats, better float64) {
	alone := ch.soleObjective()
	for s, draw := range p.utility {
		if p.studentUtility[s][k] > p.studentIncumbent[s] {
			beats++
		}
		if draw[k] > p.bestPredicted {
			if alone != nil {
				better += math.Abs(alone.labelValue(draw[k]) - alone.labelValue(p.bestPredicted))
			} else {
				better += draw[k] - p.bestPredicted
			}
		}
	}
	n := float64(len(p.utility))
	return float64(beats / n * p.successProbability[k]), float64(better / n * p.successProbability[k])
}
