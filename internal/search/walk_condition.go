package search

import (
	"kir/internal/portable"
	"kir/mcmc"
)

// setShare is the probability that a step of a walk sets a condition, if there are any, instead of moving units.
const setShare = 0.25

// set scores the values of a condition and moves to one with probability ∝ score^β. It offers the best one to the
// archive.
func (w *walker) set(condition int, beta float64) error {
	values, err := w.scoreValues(condition)
	if err != nil || len(values) == 0 {
		return err
	}
	w.offerValue(condition, bestChoice(values))
	w.weights = setValue(w.cursor, w.rand, condition, values, beta, w.weights)
	return nil
}

// setValue draws a value of a condition from the listed choices with probability ∝ exp(β·score) and sets it. It returns
// the weights, for use as scratch in the next call.
func setValue(cursor *mcmc.Cursor, r *mcmc.Rand, condition int, values []choice, beta float64, weights []float64) []float64 {
	top := bestChoice(values).value
	weights = weights[:0]
	for _, c := range values {
		weights = append(weights, float64(portable.Exp(float64(beta*(c.value-top)))*float64(c.to-c.from)))
	}
	c := values[r.Categorical(weights)]
	v := c.from
	if c.to-c.from > 1 {
		v += r.Intn(c.to - c.from)
	}
	if v != cursor.Composition().Condition(condition) {
		cursor.SetCondition(condition, v, c.value)
	}
	return weights
}

// scoreValues scores the values of a condition. It returns the allowed ones as ranges of values with equal scores.
func (w *walker) scoreValues(condition int) ([]choice, error) {
	p, err := w.cursor.Values(condition)
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
		w.add(from, to, value)
	}
	return w.choices, nil
}

// bestChoice returns the first of the choices with the highest score.
func bestChoice(list []choice) choice {
	best := list[0]
	for _, c := range list {
		if c.value > best.value {
			best = c
		}
	}
	return best
}

// offerValue offers to the archive the present composition with the middle value of a choice as the condition's
// value.
func (w *walker) offerValue(condition int, c choice) {
	values := w.conditions()
	values[condition] = int32(middle(c))
	x := w.cursor.Composition()
	archived := c.value > w.archive.bar
	if !archived && (w.diversity == nil || !(c.value > w.diversity.best.LogScore)) || !w.limits.allowsAll(x) {
		return
	}
	i := int(x.Ingredients()[0])
	parts := w.partsWith(i, i, x.Amount(i), x.Amount(i))
	if w.refuses(parts) {
		return
	}
	if archived {
		w.archive.Offer(parts, values, c.value)
	}
	if w.diversity != nil {
		w.diversity.offer(parts, values, c.value)
	}
}

// middle returns the middle of a range of values.
func middle(c choice) int { return (c.from + c.to - 1) / 2 }

// conditions returns the values of the present composition's conditions. They are valid until the next call.
func (w *walker) conditions() []int32 {
	w.values = w.cursor.Composition().AppendConditions(w.values[:0])
	if len(w.values) == 0 {
		return nil
	}
	return w.values
}

// bestValues sets each condition in turn to the middle of the range of its best value, if that is better than its
// present value.
func (w *walker) bestValues() error {
	for _, k := range w.cursor.FreeConditions() {
		values, err := w.scoreValues(k)
		if err != nil {
			return err
		}
		if len(values) == 0 {
			continue
		}
		if best := bestChoice(values); best.value > w.cursor.LogScore() {
			w.cursor.SetCondition(k, middle(best), best.value)
		}
	}
	return nil
}
