package campaign

import (
	"math"
	"slices"
)

// A candidatePool has the candidates for a batch and joint draws of utilities. The utility is the
// number by which recipes are compared. Each draw has the utilities of all candidates, of the
// anchor trials and of the pending recipes. An anchor trial is a trial with a great predicted
// utility.
type candidatePool struct {
	recipes              []recipe    // candidates for the batch
	logScores            []float64   // item k is the log score of candidate k; see [acquisition]
	utilityDraws         [][]float64 // utilityDraws[s][k] is the utility of recipe k in draw s; the recipes are the candidates, then the anchor trials, then the pending recipes
	studentUtilityDraws  [][]float64 // like utilityDraws, but with the wider spread of a Student distribution
	anchorTrials         []int       // indices of the trials with the greatest predicted utilities, best first
	pendingCount         int         // number of pending recipes
	successProbabilities []float64   // item k is the probability that a trial of candidate k does not fail

	bestPredictedUtility      float64   // greatest predicted utility of any trial
	bestTrialUtilities        []float64 // item s is the greatest utility of any anchor trial in draw s
	incumbentUtilities        []float64 // item s is the utility in draw s that a candidate must exceed: the greatest utility of a pending or chosen recipe, but at least bestPredictedUtility
	studentIncumbentUtilities []float64 // item s is the utility of the trial with the best prediction in draw s of studentUtilityDraws
}

// newCandidatePool returns a pool with joint draws of the utilities of the candidates, the anchor
// trials and the pending recipes. The parameter bestUtility is the greatest predicted utility of
// any trial.
func (ch *batchOptimizer) newCandidatePool(candidates []candidate, anchors []int, bestUtility float64) (*candidatePool, error) {
	p := &candidatePool{anchorTrials: anchors, pendingCount: len(ch.pending), bestPredictedUtility: bestUtility}
	for _, c := range candidates {
		ok := 1.0
		if ch.successModel != nil {
			ok, _ = ch.successModel.Predict(c.recipe)
		}
		p.recipes, p.logScores, p.successProbabilities = append(p.recipes, c.recipe), append(p.logScores, c.score), append(p.successProbabilities, ok)
	}
	xs := slices.Clone(p.recipes)
	for _, k := range anchors {
		xs = append(xs, ch.campaign.withGivenConditions(ch.campaign.trials[k].recipe))
	}
	for _, e := range ch.pending {
		xs = append(xs, e.recipe)
	}
	draws := ch.modelDraws(xs)
	var err error
	if p.utilityDraws, err = ch.utilitiesOfDraws(xs, draws); err != nil {
		return nil, err
	}
	if p.studentUtilityDraws, err = ch.utilitiesOfDraws(xs, ch.studentDraws(draws)); err != nil {
		return nil, err
	}
	first, wait := len(p.recipes), len(p.recipes)+len(anchors)
	for _, draw := range p.utilityDraws {
		tried := math.Inf(-1)
		for _, v := range draw[first:wait] {
			tried = max(tried, v)
		}
		level := bestUtility
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

// bestUtilities returns two maxima of one draw of utilities. The result untried is the maximum over
// the recipes without a result, that is, the candidates and the pending recipes. The result tried
// is the maximum over the anchor trials.
func (p *candidatePool) bestUtilities(draw []float64) (untried, tried float64) {
	untried, tried = math.Inf(-1), math.Inf(-1)
	for k, v := range draw {
		if k < len(p.recipes) || k >= len(draw)-p.pendingCount {
			untried = max(untried, v)
		} else {
			tried = max(tried, v)
		}
	}
	return untried, tried
}

// expectedGain returns how much the candidate at the given index exceeds incumbentUtilities,
// averaged over the draws. The mean is multiplied by the success probability of the candidate and
// divided by the cost.
func (ch *batchOptimizer) expectedGain(p *candidatePool, index int) float64 {
	sum := 0.0
	for s, draw := range p.utilityDraws {
		sum += max(draw[index]-p.incumbentUtilities[s], 0)
	}
	sum = float64(sum / float64(len(p.utilityDraws)) * p.successProbabilities[index])
	return sum / ch.costDivisor(p.recipes[index].parts)
}

// utilitySD returns the standard deviation of the utility of candidate k over the draws.
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
// improvement over all trials. For the probability, the candidate is compared with the trial of the
// best prediction in each Student draw. If there is a sole objective, the improvement is in the
// unit of the label.
func (ch *batchOptimizer) improvementStats(p *candidatePool, k int) (beats, improvement float64) {
	alone := ch.soleObjective()
	for s, draw := range p.utilityDraws {
		if p.studentUtilityDraws[s][k] > p.studentIncumbentUtilities[s] {
			beats++
		}
		if draw[k] > p.bestPredictedUtility {
			if alone != nil {
				improvement += math.Abs(alone.labelValue(draw[k]) - alone.labelValue(p.bestPredictedUtility))
			} else {
				improvement += draw[k] - p.bestPredictedUtility
			}
		}
	}
	n := float64(len(p.utilityDraws))
	return float64(beats / n * p.successProbabilities[k]), float64(improvement / n * p.successProbabilities[k])
}
