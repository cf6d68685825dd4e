package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// A ConditionScorer is a [Scorer] that scores all values of a condition at once. With any other
// Scorer, kernels set each value in turn and call Reset.
type ConditionScorer interface {
	Scorer
	// Values adds to p, for each value of condition c, the score that the composition would have
	// with this value. It begins with the value of index 0. Before the call p is empty.
	Values(c int, p *PiecewiseConstant)
	// ConditionSet updates the scorer after condition c of the composition has got another value.
	ConditionSet(c int)
}

// setMoveShare returns the share of iterations that draw the value of a condition anew. The
// argument is the number of conditions that have more than one value.
func setMoveShare(conditions int) float64 {
	if conditions == 0 {
		return 0
	}
	return min(0.5, 0.1+float64(0.1*float64(conditions)))
}

// trySetMove sometimes makes a move that draws the value of a condition anew, as an iteration of a
// kernel. It reports whether it made such a move. It uses no random number if no condition has more
// than one value.
func (x *State) trySetMove(r *Rand, tally *Tally) (made bool, err error) {
	if c := x.target.space.conditions; !c.hasMultiValuedCondition() || !r.Bernoulli(setMoveShare(len(c.multiValuedConditions))) {
		return false, nil
	}
	result, err := x.drawCondition(r)
	if err != nil {
		return false, err
	}
	tally.Accepted += oneIf(result.isAccepted())
	tally.Updated += oneIf(result == outcomeUpdated)
	return true, nil
}

// drawCondition draws the value of one condition anew, from its exact conditional distribution
//
//	P(z_c = v | all else) ∝ p(v)·Y(x, z with z_c = v)^β.
//
// This is a Gibbs move, which leaves every target invariant. The condition c is drawn uniformly
// among the conditions that have more than one value.
func (x *State) drawCondition(r *Rand) (moveOutcome, error) {
	s := x.target.space.conditions
	c := s.multiValuedConditions[0]
	if len(s.multiValuedConditions) > 1 {
		c = s.multiValuedConditions[r.Intn(len(s.multiValuedConditions))]
	}
	pieces, err := x.conditionScores(c)
	if err != nil {
		return outcomeRejected, err
	}
	top, at := negInf, 0
	for q, v := range pieces.values {
		if isInvalidScore(v) {
			return outcomeRejected, x.invalidValueError(c, int(pieces.starts[q]))
		}
		if v > top {
			top, at = v, int(pieces.starts[q])
		}
	}
	if top == negInf {
		return outcomeRejected, x.invalidValueError(c, int(x.Composition.conditions[c]))
	}
	x.visitedStates.addValue(x.Composition, c, at, top)
	w := x.weighValues(s.probabilities[c], pieces, top)
	v := r.Categorical(w)
	if v == x.Composition.Condition(c) {
		return outcomeUnchanged, nil
	}
	q := len(pieces.starts) - 1
	for int(pieces.starts[q]) > v {
		q--
	}
	x.setCondition(c, v)
	x.logScore = pieces.values[q]
	return outcomeUpdated, nil
}

// weighValues returns the weight p[v]·exp(β·(score − top)) of each value v of a condition. The
// argument p holds the probabilities of the values, pieces their log scores, and top the greatest
// log score.
func (x *State) weighValues(p []float64, pieces *PiecewiseConstant, top float64) []float64 {
	if cap(x.choiceWeights) < len(p) {
		x.choiceWeights = make([]float64, 2*len(p))
	}
	w := x.choiceWeights[:len(p)]
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

// conditionScores returns, for each value of condition c, the log score Σ_k c_k·log y_k that the
// composition would have with this value. The result is valid until the next call of any method of
// x.
func (x *State) conditionScores(c int) (*PiecewiseConstant, error) {
	x.sumPieces.Reset()
	x.sumPieces.Add(0, 0)
	last := int32(len(x.target.space.conditions.probabilities[c]) - 1)
	for _, t := range x.scoredTerms {
		p := &x.propertyPieces
		p.Reset()
		if t.conditionScorer != nil {
			t.conditionScorer.Values(c, p)
		} else {
			x.scoreValues(t, c, int(last), p)
		}
		for q := range p.values {
			p.values[q] = float64(p.values[q] * t.objective.Weight)
		}
		if err := x.checkValuePieces(t, p, last, c); err != nil {
			return nil, err
		}
		addPieces(&x.nextSumPieces, &x.sumPieces, p)
		x.sumPieces, x.nextSumPieces = x.nextSumPieces, x.sumPieces
	}
	return &x.sumPieces, nil
}

// scoreValues adds the scores of the values 0 to last of condition c to p. It sets each value in
// turn and calls Reset of the scorer of t.
func (x *State) scoreValues(t scoredTerm, c, last int, p *PiecewiseConstant) {
	was := x.Composition.conditions[c]
	for v := range last + 1 {
		x.Composition.conditions[c] = int32(v)
		t.scorer.Reset()
		p.Add(v, t.scorer.LogScore())
	}
	x.Composition.conditions[c] = was
	t.scorer.Reset()
}

// setCondition sets condition c to the value with index v, and updates the scorers.
func (x *State) setCondition(c, v int) {
	x.Composition.conditions[c] = int32(v)
	for _, t := range x.scoredTerms {
		if t.conditionScorer != nil {
			t.conditionScorer.ConditionSet(c)
		} else {
			t.scorer.Reset()
		}
	}
}

// checkValuePieces returns an error unless the pieces in p are a valid function of the values 0 to
// last of condition c. They must begin at value 0 and ascend up to at most last. The error names
// the term t that returned p.
func (x *State) checkValuePieces(t scoredTerm, p *PiecewiseConstant, last int32, c int) error {
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

// invalidValueError returns an error that names the property whose score is NaN or +Inf if
// condition c has the value with index v.
func (x *State) invalidValueError(c, v int) error {
	y := x.Composition.Clone()
	y.conditions[c] = int32(v)
	if _, err := sumScores(newScoredTerms(x.target, y), y, true); err != nil {
		return err
	}
	return fmt.Errorf("the scores of the values of condition %d at %v are not those of its compositions", c, y)
}
