package campaign

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"kir/internal/number"
	"kir/internal/portable"
	"kir/mcmc"
)

// describeReason returns the reason why a recipe was chosen, as words with numbers.
func (ch *batchOptimizer) describeReason(b *chosenRecipe) Reason {
	if b.tradeOff != nil {
		return b.tradeOff.describeTradeOffReason(b)
	}
	switch b.reasonKind {
	case Fill:
		if math.IsNaN(b.nearestDistance) {
			return Reason{Fill, "explores: the first recipe"}
		}
		return Reason{Fill, fmt.Sprintf("explores: unlike anything tried or chosen (distance at least %.2f)", b.nearestDistance)}
	case Replicate:
		return Reason{Replicate, "repeats " + b.repeatedTrialID + ": repeat error hides whether it is the best"}
	}
	kind := b.reasonKind
	if kind == Likely && ch.isExploratory(b.recipe) {
		kind = Learn
	}
	if want := ch.soleClassObjective(); want != nil && kind == Likely {
		value, _ := want.model.Predict(b.recipe)
		return Reason{Likely, fmt.Sprintf("%s chance that %s is %s", number.WholePercent(value), want.label, want.learningSettings.Want)}
	}
	if kind == Likely {
		return Reason{Likely, newBestText(b.beatsProbability)}
	}
	text := "tests what is least understood"
	if i := ch.leastKnownIngredient(b.recipe); i >= 0 {
		text = "tests " + ch.campaign.Problem.Ingredients[i] + ", the least understood ingredient"
	}
	return Reason{Learn, text + "; " + newBestText(b.beatsProbability)}
}

// newBestText writes the probability that a recipe beats everything tried.
func newBestText(probability float64) string {
	return chanceText(probability) + " chance of a new best"
}

// chanceText writes a probability that was counted in at most drawCount draws. None or all of the
// draws prove no certainty, so that 0 is written as <1 % and 1 as >99 %.
func chanceText(probability float64) string {
	return number.WholePercent(min(max(probability, 0.5/drawCount), 1-0.5/drawCount))
}

// soleClassObjective returns the only objective of a campaign that learns a single label with
// classes. For any other campaign it returns nil. With such an objective, a recipe that turns out
// to have a wanted class cannot be beaten.
func (ch *batchOptimizer) soleClassObjective() *learntObjective {
	learnt := ch.learntObjectives()
	if len(learnt) != 1 || learnt[0].learningSettings.Numeric {
		return nil
	}
	return learnt[0]
}

// isExploratory reports whether a recipe was chosen for the uncertainty of its value. The predicted
// value of such a recipe is more than one standard deviation below the best prediction of a trial.
func (ch *batchOptimizer) isExploratory(x recipe) bool {
	o := ch.soleObjective()
	if o == nil {
		return false
	}
	best := math.Inf(-1)
	for _, t := range ch.campaign.trials {
		if !t.failed && len(t.brokenRules) == 0 {
			mean, _ := o.model.Predict(ch.campaign.withGivenConditions(t.recipe))
			best = max(best, mean)
		}
	}
	mean, sd := o.model.Predict(x)
	return mean+sd < best
}

// leastKnownIngredient returns the index of the ingredient that contributes most to the uncertainty
// of the prediction of recipe x. Without this ingredient, the predicted standard deviation falls
// most. The index is −1 if there is no such ingredient.
func (ch *batchOptimizer) leastKnownIngredient(x recipe) int {
	learnt := ch.learntObjectives()
	if len(learnt) == 0 || len(x.parts) < 2 {
		return -1
	}
	o := learnt[0]
	_, sd := o.model.Predict(x)
	at, most := -1, 0.0
	for k, p := range x.parts {
		rest := removePart(x.parts, k, ch.campaign.Problem.Total)
		if rest == nil {
			continue
		}
		if _, less := o.model.Predict(x.withParts(rest)); sd-less > most {
			at, most = p.Ingredient, sd-less
		}
	}
	return at
}

// removePart returns recipe x without the part at the given index. The other amounts grow in
// proportion, so that they sum to total again.
func removePart(x []mcmc.Part, index, total int) []mcmc.Part {
	rest := slices.Delete(slices.Clone(x), index, index+1)
	left := total - x[index].Amount
	sum := 0
	for k := range rest {
		rest[k].Amount = max(1, rest[k].Amount*total/left)
		sum += rest[k].Amount
	}
	// The largest part takes the rounding error.
	most := 0
	for k := range rest {
		if rest[k].Amount > rest[most].Amount {
			most = k
		}
	}
	if rest[most].Amount += total - sum; rest[most].Amount < 1 {
		return nil
	}
	return rest
}

// remainingGain estimates the gain that further rounds would bring. The expected gain comes from
// the utility draws of the pool, and the probability of any gain comes from the wider Student
// draws. The file bench/RESULTS.md compares past estimates with outcomes.
func (ch *batchOptimizer) remainingGain(p *candidatePool, best *Best) RemainingGain {
	alone := ch.soleObjective()
	noise := ch.utilityNoise(p)
	betterDraws, gain := 0.0, 0.0
	for s, draw := range p.utilityDraws {
		tried := p.bestTrialUtilities[s]
		if math.IsInf(tried, -1) {
			betterDraws++ // no trial counts
			continue
		}
		if top, tried := p.bestUtilities(p.studentUtilityDraws[s]); top > tried+noise {
			betterDraws++
		}
		top, _ := p.bestUtilities(draw)
		switch {
		case top <= tried:
		case alone != nil:
			gain += math.Abs(alone.labelValue(top) - alone.labelValue(tried))
		default:
			gain += top - tried
		}
	}
	n := float64(len(p.utilityDraws))
	probability := betterDraws / n
	gain /= n
	l := RemainingGain{Probability: &probability, Gain: &gain, Advice: GoOn}
	more := ""
	switch {
	case probability >= stopProbability:
	case len(p.recipes) > 0 && ch.campaign.roundsSinceBest(best) < minRoundsWithoutGain:
		more = fmt.Sprintf(" Stop after %d batches in a row without a better one.", minRoundsWithoutGain)
	default:
		l.Advice = Stop
	}
	unit := "in score (best so far: " + number.Value(p.bestPredictedUtility) + " by the present models)"
	if alone != nil {
		unit = "in " + alone.label
	}
	better := "a better recipe"
	if noise > 0 {
		better = "a recipe that is better by more than the repeat error"
	}
	l.Text = fmt.Sprintf("%s chance that %s exists; expected gain, if it is found, %s %s.%s", chanceText(probability), better, number.Value(gain), unit, more)
	return ch.qualifyAdvice(l)
}

// qualifyAdvice changes the advice to go on in two cases: a model predicts hardly anything, or no
// recipe is predicted to satisfy the limits. It also adds the cause to the text.
func (ch *batchOptimizer) qualifyAdvice(gain RemainingGain) RemainingGain {
	weak := ch.weakModelText()
	switch {
	case ch.predictionLimitsDropped:
		gain.Advice = GoOn
		gain.Text = "No recipe is predicted to keep all limits, so the possible gain is unknown. Loosen a limit, or make the batch to learn more."
		if weak != "" {
			gain.Text += " " + weak + "."
		}
	case weak == "":
	case gain.Advice == Stop:
		gain.Advice = GoOn
		gain.Text = weak + ", so the possible gain is unknown."
	default:
		gain.Text += " " + weak + ", so this is a guess."
	}
	return gain
}

// utilityNoise returns the standard deviation of a measured utility at the trial with the best
// prediction. A recipe can be recognised as better only if it is better by this much. The result is
// 0 unless replicates show the noise. Without replicates, the noise of a model also includes
// everything that the model cannot fit.
func (ch *batchOptimizer) utilityNoise(p *candidatePool) float64 {
	if o := ch.soleObjective(); o != nil {
		if ch.replicateDegreesOfFreedom(o) < minNoiseDegreesOfFreedom {
			return 0
		}
		return o.model.Noise()
	}
	if len(p.anchorTrials) == 0 {
		return 0
	}
	x := ch.campaign.withGivenConditions(ch.campaign.trials[p.anchorTrials[0]].recipe)
	sum := 0.0
	for _, o := range ch.learntObjectives() {
		if ch.replicateDegreesOfFreedom(o) < minNoiseDegreesOfFreedom {
			continue
		}
		mean, _ := o.model.Predict(x)
		noise := o.model.Noise()
		at := portable.Pow(o.predictedDesirability(mean), o.weight)
		if at == 0 {
			return 0 // every trial has utility 0
		}
		swing := portable.Pow(o.predictedDesirability(mean+noise), o.weight) - portable.Pow(o.predictedDesirability(mean-noise), o.weight)
		change := float64(p.bestPredictedUtility / at * swing / 2)
		sum += float64(change * change)
	}
	return math.Sqrt(sum)
}

// The advice is to stop if two conditions hold:
//
//   - The probability that something better is left is below stopProbability.
//   - At least the last minRoundsWithoutGain rounds brought nothing better.
//
// The second condition is needed because models know little about recipes that differ from all
// trials.
const (
	stopProbability      = 0.05
	minRoundsWithoutGain = 2
)

// roundsWithResults returns the numbers of the rounds in which trials were made, in ascending
// order.
func (c *Campaign) roundsWithResults() []int {
	rounds := make(map[int]bool)
	for _, t := range c.trials {
		rounds[t.round] = true
	}
	return slices.Sorted(maps.Keys(rounds))
}

// roundsSinceBest returns how many rounds with results came after the round in which the best
// recipe was first made.
func (c *Campaign) roundsSinceBest(best *Best) int {
	if best == nil {
		return 0
	}
	first := math.MaxInt
	for _, t := range c.trials {
		if t.key == best.key {
			first = min(first, t.round)
		}
	}
	return len(slices.DeleteFunc(c.roundsWithResults(), func(round int) bool { return round <= first }))
}

// addReplicates replaces the least useful recipes of the batch by repetitions of trials that may be
// the best. A recipe is replaced only if the repetition gains more. Replicates must already show
// the noise, and the noise must hide which trial is best.
func (ch *batchOptimizer) addReplicates(p *candidatePool) {
	o := ch.soleObjective()
	if o == nil || ch.allowedRecipes != nil || ch.settings.BatchSize < 2 || ch.replicateDegreesOfFreedom(o) < minNoiseDegreesOfFreedom {
		return
	}
	noise := o.model.Noise()
	for range max(1, ch.settings.BatchSize/learnPickInterval) {
		best, gain := -1, 0.0
		for i, k := range p.anchorTrials {
			x := ch.campaign.trials[k].recipe
			if !ch.campaign.isOffered(x) {
				continue
			}
			if slices.ContainsFunc(ch.batch, func(b chosenRecipe) bool { return compareRecipes(b.recipe, x) == 0 }) ||
				slices.ContainsFunc(ch.pending, func(e *Entry) bool { return e.key == ch.campaign.trials[k].key }) {
				continue
			}
			mean, sd := o.model.Predict(x)
			rival := math.Inf(-1)
			for j, other := range p.anchorTrials {
				if j != i {
					v, _ := o.model.Predict(ch.campaign.withGivenConditions(ch.campaign.trials[other].recipe))
					rival = max(rival, v)
				}
			}
			if math.Abs(mean-rival) > 2*noise {
				continue // the difference is clear despite the noise
			}
			moves := sd * sd / math.Sqrt(float64(sd*sd)+float64(noise*noise))
			if v := expectedImprovement(-math.Abs(mean-rival), moves, 0); v > gain {
				best, gain = k, v
			}
		}
		last := -1 // the recipe with the least gain that is no replicate
		for k, b := range ch.batch {
			if b.reasonKind == Likely && (last < 0 || b.expectedGain < ch.batch[last].expectedGain) {
				last = k
			}
		}
		if best < 0 || last < 0 || gain <= ch.batch[last].expectedGain {
			return
		}
		t := &ch.campaign.trials[best]
		if !ch.fitsBatch(t.recipe) {
			return
		}
		ch.removeRecipe(last)
		ch.addRecipe(chosenRecipe{recipe: t.recipe, reasonKind: Replicate, expectedGain: gain, repeatedTrialID: t.id})
	}
}

// replicateDegreesOfFreedom returns the degrees of freedom of the noise estimate from replicates:
// the number of measurements of a label minus the number of different measured recipes.
func (ch *batchOptimizer) replicateDegreesOfFreedom(o *learntObjective) int {
	numbers, _, err := ch.campaign.measuredValues(o.learningSettings)
	if err != nil {
		return 0
	}
	seen := make(map[string]bool)
	n := 0
	for k, t := range ch.campaign.trials {
		if math.IsNaN(numbers[k]) {
			continue
		}
		if seen[t.key] {
			n++
		}
		seen[t.key] = true
	}
	return n
}
