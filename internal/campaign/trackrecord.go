package campaign

import (
	"cmp"
	"math"
	"slices"

	"kir/internal/portable"
)

// These settings say how the outcome of earlier batches corrects the predictions of the next batch.
// A batch of age a, where the last batch has age 0, counts recordDecay^a. The priors stand for
// batches of other campaigns; bench/RESULTS.md has the experiments behind them.
const (
	recordDecay        = 0.7 // weight of a batch, divided by the weight of the batch after it
	firstWidening      = 1.7 // prior widening of prediction intervals before any batch has results
	laterWidening      = 1.1 // prior widening afterwards: recipes that a model chose are then among those it learnt from
	priorWideningCount = 8   // number of predictions that the prior widening counts as
	maxWidening        = 5   // upper bound of the widening
	priorOddsFactor    = 0.5 // factor of the odds of a new best before any batch has results
	priorOddsCount     = 32  // number of chances that priorOddsFactor counts as
	priorOddsChance    = 0.2 // stated chance of each of these
	maxOddsFactor      = 20  // upper bound of the factor of the odds; its reciprocal is the lower bound
)

// recordWeight returns the weight of a batch of the given round in the choice of the next batch.
func (ch *batchOptimizer) recordWeight(round int) float64 {
	return portable.Pow(recordDecay, float64(ch.round-1-round))
}

// setIntervalWidening sets the factor by which the intervals of each numeric objective are widened.
// It is the q with
//
//	Σ_i w_i·1(r_i > q) + n·P(|Z| > 1.645·q/q₀) = 0.1·(Σ_i w_i + n),
//
// where r_i is the distance of measurement i from its prediction, divided by the half width of the
// interval as the model alone gave it, w_i is the weight of its batch, and Z is standard normal. The
// n predictions of the prior have 90 % of their distances below q₀, which is firstWidening until a
// batch has results, and laterWidening afterwards. The first batch leaves the region of the recipes
// that the campaign began with, so that its errors are larger. The widening is the 0.9 quantile
// of all r_i, as in split conformal prediction (Vovk, Gammerman and Shafer 2005, section 4.2).
func (ch *batchOptimizer) setIntervalWidening() error {
	for _, o := range ch.objectives {
		o.intervalWidening = 1
		if o.model == nil || !o.learningSettings.Numeric {
			continue
		}
		checks, err := ch.campaign.predictionChecks(o)
		if err != nil {
			return err
		}
		var distances, weights []float64
		total := float64(priorWideningCount)
		for _, check := range checks {
			if check.MadeDifferently {
				continue
			}
			if r := o.distanceInHalfIntervals(check); r >= 0 {
				w := ch.recordWeight(check.Round)
				distances, weights = append(distances, float64(r*cmp.Or(ch.campaign.correctionIn(check.Round).Widening[o.label], 1))), append(weights, w)
				total += w
			}
		}
		prior := float64(laterWidening)
		if len(distances) == 0 {
			prior = firstWidening
		}
		o.intervalWidening = findDecreasingRoot(1/float64(maxWidening), maxWidening, func(q float64) float64 {
			_, below := normalPDFAndCDF(-coverageNormalQuantile * q / prior)
			beyond := float64(2 * priorWideningCount * below)
			for k, r := range distances {
				if r > q {
					beyond += weights[k]
				}
			}
			return beyond - float64((1-intervalCoverage)*total)
		})
	}
	return nil
}

// correction returns the correction of the batch's predictions.
func (ch *batchOptimizer) correction() Correction {
	c := Correction{Widening: make(map[string]float64), OddsFactor: ch.oddsFactor}
	for _, o := range ch.objectives {
		if o.model != nil && o.learningSettings.Numeric && o.modelOwner == nil {
			c.Widening[o.label] = o.intervalWidening
		}
	}
	return c
}

// distanceInHalfIntervals returns how far a measurement lies from its prediction, divided by the
// distance of the end of the interval on the same side. Distances are distances of scores; see
// [warp.intervalScore]. The result is NaN if the interval has no width.
func (o *learntObjective) distanceInHalfIntervals(c PredictionCheck) float64 {
	end := c.Predicted.High
	if c.Measured < c.Predicted.Value {
		end = c.Predicted.Low
	}
	value := o.warp.intervalScore(c.Predicted.Value)
	half := math.Abs(o.warp.intervalScore(end) - value)
	if !(half > 0) || math.IsInf(half, 0) {
		return math.NaN()
	}
	return math.Abs(o.warp.intervalScore(c.Measured)-value) / half
}

// correctionIn returns the correction of the batch of a round. Batches of older versions have none, so
// that their factors are 0; see [cmp.Or].
func (c *Campaign) correctionIn(round int) Correction {
	k, found := slices.BinarySearchFunc(c.Batches, round, func(b *Batch, round int) int { return b.Round - round })
	if !found {
		return Correction{}
	}
	return c.Batches[k].Correction
}

// setOddsFactor sets the factor by which the odds of a new best are multiplied. It is the f with
//
//	Σ_i w_i·p_i(f) + n·p(f) = Σ_i w_i·y_i + n·p(f₀),
//
// where p_i(f) is the chance that the model alone gave recipe i of an earlier batch, its odds
// multiplied by f, and y_i is 1 if the recipe did beat all recipes tried before, otherwise 0. The n
// chances of the prior have the mean outcome of the factor f₀.
func (ch *batchOptimizer) setOddsFactor() error {
	if ch.oddsFactor = 1; len(ch.campaign.Problem.Trade) > 0 {
		return nil
	}
	utilities, err := ch.measuredUtilities()
	if err != nil {
		return err
	}
	expected := float64(priorOddsCount * multiplyOdds(priorOddsChance, priorOddsFactor))
	var chances, weights []float64
	c := ch.campaign
	for k, t := range c.trials[c.firstResultTrial:] {
		e := c.findEntry(t.id)
		if e == nil || e.BeatsBestProbability == nil || t.key != e.key || !t.failed && math.IsNaN(utilities[c.firstResultTrial+k]) {
			continue
		}
		w := ch.recordWeight(e.round)
		chances, weights = append(chances, multiplyOdds(*e.BeatsBestProbability, 1/cmp.Or(c.correctionIn(e.round).OddsFactor, 1))), append(weights, w)
		if ch.beatsEarlierRounds(utilities, c.firstResultTrial+k, e.round) {
			expected += w
		}
	}
	ch.oddsFactor = findDecreasingRoot(1/float64(maxOddsFactor), maxOddsFactor, func(f float64) float64 {
		stated := float64(priorOddsCount * multiplyOdds(priorOddsChance, f))
		for k, p := range chances {
			stated += float64(weights[k] * multiplyOdds(p, f))
		}
		return expected - stated
	})
	return nil
}

// beatsEarlierRounds reports whether a trial has a greater utility than all trials of the rounds
// before the given one.
func (ch *batchOptimizer) beatsEarlierRounds(utilities []float64, trial, round int) bool {
	for k, t := range ch.campaign.trials {
		if t.round < round && utilities[k] >= utilities[trial] {
			return false
		}
	}
	return utilities[trial] > 0
}

// multiplyOdds returns the probability whose odds are factor times the odds of p.
func multiplyOdds(p, factor float64) float64 {
	return float64(p*factor) / (1 - p + float64(p*factor))
}

// findDecreasingRoot returns the point between low and high at which the decreasing function f
// changes its sign, found by bisection of the logarithms. If f has one sign, the result is the end
// at which f is nearest to 0.
func findDecreasingRoot(low, high float64, f func(float64) float64) float64 {
	const steps = 50 // the interval is then far narrower than any figure that is shown
	for range steps {
		if middle := math.Sqrt(low * high); f(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
