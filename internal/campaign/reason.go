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

// describeReason returns the describeReason for a chosen recipe, computed from its figures.
func (ch *batchOptimizer) describeReason(b *chosenRecipe) Reason {
	if b.front != nil {
		return b.front.reason(b)
	}
	switch b.kind {
	case Fill:
		if math.IsNaN(b.distance) {
			return Reason{Fill, "fills the space: the first recipe"}
		}
		return Reason{Fill, fmt.Sprintf("fills the space: nothing tried or chosen is within a distance of %.2f", b.distance)}
	case Replicate:
		return Reason{Replicate, "replicate of " + b.trialID + ": noise decides whether it is the best"}
	}
	kind := b.kind
	if kind == Likely && ch.isExploratory(b.recipe) {
		kind = Learn
	}
	if want := ch.soleClassObjective(); want != nil && kind == Likely {
		value, _ := want.model.Predict(b.recipe)
		return Reason{Likely, fmt.Sprintf("likely as wanted: %s is %s with probability %.2f", want.label, want.learning.Want, value)}
	}
	if kind == Likely {
		return Reason{Likely, fmt.Sprintf("likely best: beats all that was tried with probability %.2f", b.beats)}
	}
	text := "settles what is least known"
	if i := ch.leastKnownIngredient(b.recipe); i >= 0 {
		text = "settles " + ch.c.Problem.Ingredients[i] + ", the least known here"
	}
	return Reason{Learn, fmt.Sprintf("%s: beats all that was tried with probability %.2f", text, b.beats)}
}

// soleClassObjective returns the objective if the campaign learns one class only, else nil. A
// recipe that turned out as wanted then cannot be beaten.
func (ch *batchOptimizer) soleClassObjective() *learntObjective {
	learnt := ch.learntObjectives()
	if len(learnt) != 1 || learnt[0].learning.Numeric {
		return nil
	}
	return learnt[0]
}

// isExploratory reports whether a recipe was chosen because it is uncertain. Its prediction is
// then below the best by more than a standard deviation.
func (ch *batchOptimizer) isExploratory(x recipe) bool {
	o := ch.soleObjective()
	if o == nil {
		return false
	}
	best := math.Inf(-1)
	for _, t := range ch.c.trials {
		if !t.failed && len(t.broken) == 0 {
			mean, _ := o.model.Predict(ch.c.atGivenConditions(t.recipe))
			best = max(best, mean)
		}
	}
	mean, sd := o.model.Predict(x)
	return mean+sd < best
}

// leastKnownIngredient returns the ingredient whose removal reduces the uncertainty of a
// recipe's prediction most, or −1.
func (ch *batchOptimizer) leastKnownIngredient(x recipe) int {
	learnt := ch.learntObjectives()
	if len(learnt) == 0 || len(x.parts) < 2 {
		return -1
	}
	o := learnt[0]
	_, sd := o.model.Predict(x)
	at, most := -1, 0.0
	for k, p := range x.parts {
		rest := removePart(x.parts, k, ch.c.Problem.Total)
		if rest == nil {
			continue
		}
		if _, less := o.model.Predict(x.withParts(rest)); sd-less > most {
			at, most = p.Ingredient, sd-less
		}
	}
	return at
}

// removePart returns a recipe without one of its parts. The other parts grow in proportion.
func removePart(x []mcmc.Part, out, total int) []mcmc.Part {
	rest := slices.Delete(slices.Clone(x), out, out+1)
	left := total - x[out].Amount
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

// remainingGain estimates the gain still to expect, from the draws of a pool. The gain comes
// from the models' own draws, and the probability of any gain from the Student draws.
// docs/campaign.md shows how often both came true.
func (ch *batchOptimizer) remainingGain(p *pool, best *Best) RemainingGain {
	alone := ch.soleObjective()
	noise := ch.utilityNoise(p)
	better, gain := 0.0, 0.0
	for s, draw := range p.utility {
		tried := p.trialUtilities[s]
		if math.IsInf(tried, -1) {
			better++ // no trial counts
			continue
		}
		if top, tried := p.bestUtilities(p.studentUtility[s]); top > tried+noise {
			better++
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
	n := float64(len(p.utility))
	probability := better / n
	gain /= n
	l := RemainingGain{Probability: &probability, Gain: &gain, Advice: GoOn}
	said := "go on"
	switch {
	case probability >= stopBelow:
	case len(p.recipes) > 0 && ch.c.roundsSinceBest(best) < quietRounds:
		said = fmt.Sprintf("go on until %d rounds in a row have brought nothing better", quietRounds)
	default:
		l.Advice, said = Stop, "stop, or change what is allowed"
	}
	unit := "of the score, where the best so far has " + number.Value(p.bestPredicted)
	if alone != nil {
		unit = "of " + alone.label
	}
	what := "something better"
	if noise > 0 {
		what += " by more than the noise"
	}
	l.Text = fmt.Sprintf("With probability %.2f ± %.2f %s is left; the gain to expect of the best is %s %s. Advice: %s.",
		probability, math.Sqrt(max(probability*(1-probability), 1/n)/n), what, number.Value(gain), unit, said)
	return ch.qualifyAdvice(l)
}

// qualifyAdvice adjusts the advice to how well the models behind it predict, including those
// of limits. The advice becomes to go on if a model predicts hardly anything. It also does if
// no recipe is predicted to satisfy the limits.
func (ch *batchOptimizer) qualifyAdvice(l RemainingGain) RemainingGain {
	weak := ch.weakModelText()
	switch {
	case ch.limitsDropped:
		l.Advice = GoOn
		l.Text = "No recipe was found that is predicted to keep all limits, so the gain that is left is unknown. Advice: go on, or loosen a limit."
		if weak != "" {
			l.Text += " " + weak + "."
		}
	case weak == "":
	case l.Advice == Stop:
		l.Advice = GoOn
		l.Text = weak + ", so the gain that is left is unknown. Advice: go on."
	default:
		l.Text += " " + weak + ", so that this figure is a guess."
	}
	return l
}

// utilityNoise returns the standard deviation of a measured utility, at the trial with the
// best prediction. A recipe must be better by this much to be seen as better. Only noise known
// from replicates counts. Without replicates, a model's noise includes what the model cannot
// fit.
func (ch *batchOptimizer) utilityNoise(p *pool) float64 {
	if o := ch.soleObjective(); o != nil {
		if ch.replicateDegreesOfFreedom(o) < minNoiseFreedom {
			return 0
		}
		return o.model.Noise()
	}
	if len(p.anchors) == 0 {
		return 0
	}
	x := ch.c.atGivenConditions(ch.c.trials[p.anchors[0]].recipe)
	sum := 0.0
	for _, o := range ch.learntObjectives() {
		if ch.replicateDegreesOfFreedom(o) < minNoiseFreedom {
			continue
		}
		mean, _ := o.model.Predict(x)
		noise := o.model.Noise()
		at := portable.Pow(o.predictedDesirability(mean), o.weight)
		if at == 0 {
			return 0 // every trial has utility 0
		}
		swing := portable.Pow(o.predictedDesirability(mean+noise), o.weight) - portable.Pow(o.predictedDesirability(mean-noise), o.weight)
		change := float64(p.bestPredicted / at * swing / 2)
		sum += float64(change * change)
	}
	return math.Sqrt(sum)
}

// The advice is to stop if the probability of something better is below stopBelow and the last
// quietRounds rounds brought nothing better. The second condition is there because models know
// little about recipes unlike all trials.
const (
	stopBelow   = 0.05
	quietRounds = 2
)

// resultRounds returns the rounds that have results, in ascending order.
func (c *Campaign) resultRounds() []int {
	rounds := make(map[int]bool)
	for _, t := range c.trials {
		rounds[t.round] = true
	}
	return slices.Sorted(maps.Keys(rounds))
}

// roundsSinceBest returns the number of rounds with results after the best recipe was first
// made.
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
	return len(slices.DeleteFunc(c.resultRounds(), func(round int) bool { return round <= first }))
}

// replicate replaces the least useful recipes of the batch by replicates of trials that may be
// the best. It does so only if one more measurement of the trial gains more. The noise must be
// known from replicates and hide which trial is best.
func (ch *batchOptimizer) replicate(p *pool) {
	o := ch.soleObjective()
	if o == nil || ch.s.Size < 2 || ch.replicateDegreesOfFreedom(o) < minNoiseFreedom {
		return
	}
	noise := o.model.Noise()
	for range max(1, ch.s.Size/learnShare) {
		best, gain := -1, 0.0
		for i, k := range p.anchors {
			x := ch.c.trials[k].recipe
			if !ch.c.isOffered(x) {
				continue
			}
			if slices.ContainsFunc(ch.batch, func(b chosenRecipe) bool { return compareRecipes(b.recipe, x) == 0 }) ||
				slices.ContainsFunc(ch.pending, func(e *Entry) bool { return e.key == ch.c.trials[k].key }) {
				continue
			}
			mean, sd := o.model.Predict(x)
			rival := math.Inf(-1)
			for j, other := range p.anchors {
				if j != i {
					v, _ := o.model.Predict(ch.c.atGivenConditions(ch.c.trials[other].recipe))
					rival = max(rival, v)
				}
			}
			if math.Abs(mean-rival) > 2*noise {
				continue // the difference is clear despite the noise
			}
			moves := sd * sd / math.Sqrt(float64(sd*sd)+float64(noise*noise))
			if v := improvement(-math.Abs(mean-rival), moves, 0); v > gain {
				best, gain = k, v
			}
		}
		last := -1 // the recipe with the least gain that is no replicate
		for k, b := range ch.batch {
			if b.kind == Likely && (last < 0 || b.gain < ch.batch[last].gain) {
				last = k
			}
		}
		if best < 0 || last < 0 || gain <= ch.batch[last].gain {
			return
		}
		t := &ch.c.trials[best]
		if !ch.fitsBatch(t.recipe) {
			return
		}
		ch.removeRecipe(last)
		ch.addRecipe(chosenRecipe{recipe: t.recipe, kind: Replicate, gain: gain, trialID: t.id})
	}
}

// replicateDegreesOfFreedom returns the degrees of freedom for the noise of a label: the number of
// measurements of a recipe beyond its first.
func (ch *batchOptimizer) replicateDegreesOfFreedom(o *learntObjective) int {
	numbers, _, err := ch.c.measuredOf(o.learning)
	if err != nil {
		return 0
	}
	seen := make(map[string]bool)
	n := 0
	for k, t := range ch.c.trials {
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
