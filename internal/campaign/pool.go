package campaign

import (
	"math"
	"slices"
)

// A candidatePool has candidates for a batch, with joint draws of the utilities of candidates,
// anchor trials and pending recipes. An anchor trial is a trial with a great predicted utility.
type candidatePool struct {
	recipes              []recipe    // candidates for the batch
	logScores            []float64   // by candidate: the log score of the [acquisition]
	utilityDraws         [][]float64 // by draw and recipe: the utility; the recipes are the candidates, then the anchor trials, then the pending recipes
	studentUtilityDraws  [][]float64 // like utilityDraws, but with the wider spread of Student's distribution
	anchorTrials         []int       // indices of the trials with the greatest predicted utilities, best first
	pendingCount         int         // number of pending recipes
	successProbabilities []float64   // by candidate: the probability that a trial of the recipe does not fail

	bestPredictedUtility      float64   // greatest predicted utility of any trial
	bestTrialUtilities        []float64 // by draw: the greatest utility of any anchor trial
	incumbentUtilities        []float64 // by draw: the greatest utility of the pending and chosen recipes; if bestPredictedUtility is greater, bestPredictedUtility
	studentIncumbentUtilities []float64 // by draw of studentUtilityDraws: the utility of the trial with the best prediction
}

// newCandidatePool returns a pool with joint draws of the utilities of candidates, anchor trials
// and pending recipes. The parameter b is the greatest predicted utility of any trial.
func (ch *batchOptimizer) newCandidatePool(all []candidate, anchors []int, b float64) (*candidatePool, error) {
	p := &candidatePool{anchorTrials: anchors, pendingCount: len(ch.pending), bestPredictedUtility: b}
	for _, c := range all {
		ok := 1.0
		if ch.successModel != nil {
			ok, _ = ch.successModel.Predict(c.recipe)
		}
		p.recipes, p.logScores, p.successProbabilities = append(p.recipes, c.recipe), append(p.logScores, c.score), append(p.successProbabilities, ok)
	}
	xs := slices.Clone(p.recipes)
	for _, k := range anchors {
		xs = append(xs, ch.campaign.underGivenConditions(ch.campaign.trials[k].recipe))
	}
	for _, e := range ch.pending {
		xs = append(xs, e.recipe)
	}
	draws := ch.modelDraws(xs)
	var err error
	if p.utilityDraws, err = ch.utilities(xs, draws); err != nil {
		return nil, err
	}
	if p.studentUtilityDraws, err = ch.utilities(xs, ch.studentDraws(draws)); err != nil {
		return nil, err
	}
	first, wait := len(p.recipes), len(p.recipes)+len(anchors)
	for _, draw := range p.utilityDraws {
		tried := math.Inf(-1)
		for _, v := range draw[first:wait] {
			tried = max(tried, v)
		}
		level := b
		for _, v := range draw[wait:] {
			level = max(level, v)
		}
		p.bestTrialUtilities, p.incumbentUtilities = append(p.bestTrialUtilities, tried), append(p.incumbentUtilities, level)
	}
	for _, draw := range p.studentUtilityDraws {
		rival := math.Inf(-1)
		if len(anchors) > 0 {
			rival = draw[first] // not the greatest of each draw, which would be great by chance where little is known
		}
		p.studentIncumbentUtilities = append(p.studentIncumbentUtilities, rival)
	}
	return p, nil
}

// bestUtilities returns two maxima of a draw of utilities. The result left is the maximum over
// recipes without a result, that is, candidates and pending recipes. The result tried is the
// maximum over the trials.
func (p *candidatePool) bestUtilities(draw []float64) (left, tried float64) {
	left, tried = math.Inf(-1), math.Inf(-1)
	for k, v := range draw {
		if k < len(p.recipes) || k >= len(draw)-p.pendingCount {
			left = max(left, v)
		} else {
			tried = max(tried, v)
		}
	}
	return left, tried
}

// expectedGain returns the mean improvement of candidate k over the incumbent utility of each draw.
// The mean is multiplied by the success probability and divided by the cost of the candidate.
func (ch *batchOptimizer) expectedGain(p *candidatePool, k int) float64 {
	sum := 0.0
	for s, draw := range p.utilityDraws {
		sum += max(draw[k]-p.incumbentUtilities[s], 0)
	}
	sum = float64(sum / float64(len(p.utilityDraws)) * p.successProbabilities[k])
	return sum / ch.costDivisor(p.recipes[k].parts)
}

// utilitySD returns the standard deviation, over the draws, of the utility of candidate k.
func (p *candidatePool) utilitySD(k int) float64 {
	mean, sum := 0.0, 0.0
	for _, draw := range p.utilityDraws {
		mean += draw[k] / float64(len(p.utilityDraws))
	}
	for _, draw := range p.utilityDraws {
		sum += float64((draw[k] - mean) * (draw[k] - mean))
	}
	return math.Sqrt(sum / float64(len(p.utilityDraws)-1))
}

// improvementStats returns the probability that candidate k beats all trials, and the expected
// improvement over all trials. The probability compares the candidate with the trial of the best
// prediction in the Student draws. With a sole objective, the improvement is in the unit of the
// label.
func (ch *batchOptimizer) improvementStats(p *candidatePool, k int) (beats, better float64) {
	alone := ch.soleObjective()
	for s, draw := range p.utilityDraws {
		if p.studentUtilityDraws[s][k] > p.studentIncumbentUtilities[s] {
			beats++
		}
		if draw[k] > p.bestPredictedUtility {
			if alone != nil {
				better += math.Abs(alone.labelValue(draw[k]) - alone.labelValue(p.bestPredictedUtility))
			} else {
				better += draw[k] - p.bestPredictedUtility
			}
		}
	}
	n := float64(len(p.utilityDraws))
	return float64(beats / n * p.successProbabilities[k]), float64(better / n * p.successProbabilities[k])
}
