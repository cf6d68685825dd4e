package search

import (
	"kir/internal/portable"
	"kir/mcmc"
)

// conditionStepProbability is the probability that a step of a walk sets a condition instead of moving units, if there
// are conditions.
const conditionStepProbability = 0.25

// stepCondition scores the values of a condition and sets the condition to one of them, drawn with probability ∝
// score^β. It offers the best value to the archive.
func (w *walker) stepCondition(condition int, beta float64) error {
	values, err := w.scoreValues(condition)
	if err != nil || len(values) == 0 {
		return err
	}
	w.offerValue(condition, bestChoice(values))
	w.stepWeights = drawConditionValue(w.cursor, w.rand, condition, values, beta, w.stepWeights)
	return nil
}

// drawConditionValue draws a value of a condition from the listed choices with probability ∝ exp(β·score), and
// sets the condition to this value. The argument weights is scratch; the returned slice is for the next call.
func drawConditionValue(cursor *mcmc.Cursor, r *mcmc.Rand, condition int, values []scoredRange, beta float64, weights []float64) []float64 {
	top := bestChoice(values).logScore
	weights = weights[:0]
	for _, c := range values {
		weights = append(weights, float64(portable.Exp(float64(beta*(c.logScore-top)))*float64(c.to-c.from)))
	}
	c := values[r.Categorical(weights)]
	v := c.from
	if c.to-c.from > 1 {
		v += r.Intn(c.to - c.from)
	}
	if v != cursor.Composition().Condition(condition) {
		cursor.SetCondition(condition, v, c.logScore)
	}
	return weights
}

// scoreValues scores the values of a condition. It returns the allowed values as ranges of values with equal
// scores.
func (w *walker) scoreValues(condition int) ([]scoredRange, error) {
	p, err := w.cursor.ConditionScores(condition)
	if err != nil {
		return nil, err
	}
	last := len(w.target.Space().Conditions()[condition].Weights)
	w.evaluations++
	w.compositions += int64(last)
	w.choices = w.choices[:0]
	for q := range p.Len() {
		from, value := p.Piece(q)
		to := last
		if q+1 < p.Len() {
			to, _ = p.Piece(q + 1)
		}
		w.addChoice(from, to, value)
	}
	return w.choices, nil
}

// bestChoice returns the choice with the highest score, the first of several.
func bestChoice(list []scoredRange) scoredRange {
	best := list[0]
	for _, c := range list {
		if c.logScore > best.logScore {
			best = c
		}
	}
	return best
}

// offerValue offers to the archive the present composition with another value of the condition: the value in
// the middle of the range c.
func (w *walker) offerValue(condition int, c scoredRange) {
	values := w.conditionValues()
	values[condition] = int32(middleIndex(c))
	x := w.cursor.Composition()
	archived := c.logScore > w.archive.scoreToExceed
	if !archived && (w.diversityFilter == nil || !(c.logScore > w.diversityFilter.bestFound.LogScore)) || !w.limits.allowsAllAmounts(x) {
		return
	}
	i := int(x.Ingredients()[0])
	parts := w.partsWithSplit(i, i, x.Amount(i), x.Amount(i))
	if w.refusesIngredients(parts) {
		return
	}
	if archived {
		w.archive.Offer(parts, values, c.logScore)
	}
	if w.diversityFilter != nil {
		w.diversityFilter.offerComposition(parts, values, c.logScore)
	}
}

// middleIndex returns the number in the middle of the range of a choice.
func middleIndex(c scoredRange) int { return (c.from + c.to - 1) / 2 }

// conditionValues returns a slice whose item c is the index of the present value of condition c, or nil without
// conditions. The slice is valid until the next call.
func (w *walker) conditionValues() []int32 {
	w.valueScratch = w.cursor.Composition().AppendConditions(w.valueScratch[:0])
	if len(w.valueScratch) == 0 {
		return nil
	}
	return w.valueScratch
}

// setBestConditions gives each condition in turn the value with the highest score, if this score exceeds the
// present score. Of a range of values with equal scores it takes the middle.
func (w *walker) setBestConditions() error {
	for _, k := range w.cursor.MultiValuedConditions() {
		values, err := w.scoreValues(k)
		if err != nil {
			return err
		}
		if len(values) == 0 {
			continue
		}
		if best := bestChoice(values); best.logScore > w.cursor.LogScore() {
			w.cursor.SetCondition(k, middleIndex(best), best.logScore)
		}
	}
	return nil
}
