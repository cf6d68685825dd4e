package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// A ConditionScorer is a [Scorer] that scores all values of a condition at once. For any other
// Scorer kernels set the value and call Reset, value by value.
type ConditionScorer interface {
	Scorer
	// Values adds the scores of the values of condition c to p, which is empty, by the index of the
	// value from 0 upwards; all else is as it is.
	Values(c int, p *Pieces)
	// ConditionSet takes over x after the value of condition c has changed.
	ConditionSet(c int)
}

// setShare returns the share of a kernel's iterations that draw a condition anew, given the number
// of conditions with more than one value.
func setShare(conditions int) float64 {
	if conditions == 0 {
		return 0
	}
	return min(0.5, 0.1+float64(0.1*float64(conditions)))
}

// trySet makes the occasional move of a kernel that sets a condition, as an iteration of its own. It
// reports whether it made one. Without conditions it takes no random choice.
func (x *State) trySet(r *Rand, tally *Tally) (made bool, err error) {
	if c := x.target.space.conditions; !c.hasFree() || !r.Bernoulli(setShare(len(c.several))) {
		return false, nil
	}
	result, err := x.drawCondition(r)
	if err != nil {
		return false, err
	}
	tally.Accepted += oneIf(result.accepted())
	tally.Updated += oneIf(result == updated)
	return true, nil
}

// drawCondition draws the value of one condition anew from its exact conditional law
//
//	P(z_c = v | all else) ∝ p(v)·Y(x, z with z_c = v)^β,
//
// a Gibbs move, which leaves every target invariant. The condition is uniform among those of more than
// one value.
func (x *State) drawCondition(r *Rand) (outcome, error) {
	s := x.target.space.conditions
	c := s.several[0]
	if len(s.several) > 1 {
		c = s.several[r.Intn(len(s.several))]
	}
	pieces, err := x.valuesOf(c)
	if err != nil {
		return rejected, err
	}
	top, at := negInf, 0
	for q, v := range pieces.values {
		if badScore(v) {
			return rejected, x.badValue(c, int(pieces.starts[q]))
		}
		if v > top {
			top, at = v, int(pieces.starts[q])
		}
	}
	if top == negInf {
		return rejected, x.badValue(c, int(x.Composition.conditions[c]))
	}
	x.visited.addValue(x.Composition, c, at, top)
	w := x.weighValues(s.probabilities[c], pieces, top)
	v := r.Categorical(w)
	if v == x.Composition.Condition(c) {
		return stayed, nil
	}
	q := len(pieces.starts) - 1
	for int(pieces.starts[q]) > v {
		q--
	}
	x.setCondition(c, v)
	x.sum = pieces.values[q]
	return updated, nil
}

// weighValues returns the weight of each value of a condition, given the log scores and the greatest
// of them.
func (x *State) weighValues(p []float64, pieces *Pieces, top float64) []float64 {
	if cap(x.weights) < len(p) {
		x.weights = make([]float64, 2*len(p))
	}
	w := x.weights[:len(p)]
	for q, score := range pieces.values {
		to := len(p)
		if q+1 < len(pieces.starts) {
			to = int(pieces.starts[q+1])
		}
		factor := 0.0
		if score > negInf {
			factor = portable.Exp(float64(x.beta * (score - top)))
		}
		for v := int(pieces.starts[q]); v < to; v++ {
			w[v] = float64(p[v] * factor)
		}
	}
	return w
}

// valuesOf returns Σ_k c_k·log y_k over the values of condition c, by index. It is valid until the
// next call of a method.
func (x *State) valuesOf(c int) (*Pieces, error) {
	x.sumPieces.Reset()
	x.sumPieces.Add(0, 0)
	last := int32(len(x.target.space.conditions.probabilities[c]) - 1)
	for _, t := range x.terms {
		p := &x.termPieces
		p.Reset()
		if t.conditionScorer != nil {
			t.conditionScorer.Values(c, p)
		} else {
			x.scoreValues(t, c, int(last), p)
		}
		for q := range p.values {
			p.values[q] = float64(p.values[q] * t.objective.Weight)
		}
		if err := x.checkValues(t, p, last, c); err != nil {
			return nil, err
		}
		addPieces(&x.nextSum, &x.sumPieces, p)
		x.sumPieces, x.nextSum = x.nextSum, x.sumPieces
	}
	return &x.sumPieces, nil
}

// scoreValues adds the scores of the values 0 to last of condition c to p, each scored alone.
func (x *State) scoreValues(t term, c, last int, p *Pieces) {
	was := x.Composition.conditions[c]
	for v := range last + 1 {
		x.Composition.conditions[c] = int32(v)
		t.scorer.Reset()
		p.Add(v, t.scorer.LogScore())
	}
	x.Composition.conditions[c] = was
	t.scorer.Reset()
}

// setCondition sets condition c to value v, and lets the scorers follow.
func (x *State) setCondition(c, v int) {
	x.Composition.conditions[c] = int32(v)
	for _, t := range x.terms {
		if t.conditionScorer != nil {
			t.conditionScorer.ConditionSet(c)
		} else {
			t.scorer.Reset()
		}
	}
}

// checkValues verifies the pieces that a scorer returned for the values 0 to last of condition c.
func (x *State) checkValues(t term, p *Pieces, last int32, c int) error {
	before := int32(-1)
	for q, start := range p.starts {
		if start <= before || q == 0 && start != 0 || start > last {
			return fmt.Errorf("property %q gave condition %d at %v a piece that starts at value %d after %d, of %d", t.objective.Name, c, x.Composition, start, before, last)
		}
		before = start
	}
	if before < 0 {
		return fmt.Errorf("property %q gave condition %d at %v no pieces", t.objective.Name, c, x.Composition)
	}
	return nil
}

// badValue returns an error that names the property without a valid score at value v of condition c.
func (x *State) badValue(c, v int) error {
	y := x.Composition.Clone()
	y.conditions[c] = int32(v)
	if _, err := sumScores(newTerms(x.target, y), y, true); err != nil {
		return err
	}
	return fmt.Errorf("the scores of the values of condition %d at %v are not those of its compositions", c, y)
}
