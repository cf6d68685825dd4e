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

// drawConditionValue draws a value of a condition from the listed choices with probability ∝ exp(β·score), and sets
// the condition to this value. It returns the weights, for use as scratch in the next call.
func drawConditionValue(cursor *mcmc.Cursor, r *mcmc.Rand, condition int, values []choice, beta float64, weights []float64) []float64 {
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
func (w *walker) scoreValues(condition int) ([]choice, error) {
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

// bestChoice returns the first of the choices with the highest score.
func bestChoice(list []choice) choice {
	best := list[0]
	for _, c := range list {
		if c.logScore > best.logScore {
			best = c
		}
	}
	return best
}

// offerValue offers to the archive the present composition with another value of a condition: the middle of the
// range of the choice c.
func (w *walker) offerValue(condition int, c choice) {
	values := w.conditionValues()
	values[condition] = int32(middleOfChoice(c))
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
		w.diversityFilter.offer(parts, values, c.logScore)
	}
}

// middleOfChoice returns the middle of the range of a choice.
func middleOfChoice(c choice) int { return (c.from + c.to - 1) / 2 }

// conditionValues returns the index of the present value of each condition, or nil without conditions. The result
// is valid until the next call.
func (w *walker) conditionValues() []int32 {
	w.valueScratch = w.cursor.Composition().AppendConditions(w.valueScratch[:0])
	if len(w.valueScratch) == 0 {
		return nil
	}
	return w.valueScratch
}

// setBestConditions sets each condition in turn to the value of highest score, if this score exceeds the present
// score. From a range of values with equal scores it takes the middle.
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
			w.cursor.SetCondition(k, middleOfChoice(best), best.logScore)
		}
	}
	return nil
}
