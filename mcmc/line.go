package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// lineScores returns the log score Σ_k c_k·log y_k of each division of the joint amount of i and j.
// The argument law tells which divisions have mass. The state must have properties to score. The
// result is valid until the next call.
//
// The log score is −Inf if some property forbids the division, whatever the other properties
// return. Any other invalid score, NaN or +Inf, is returned as it is; [State.weighSplits] reports
// it if it matters.
func (x *State) lineScores(i, j int, law *splitLaw) (*PiecewiseConstant, error) {
	return x.partialLineScores(i, j, law, true, -1)
}

// partialLineScores is [State.lineScores], but it leaves out the properties with a [CurveScorer] if
// curves is false. It returns nil if the rules allow no division of the joint amount other than
// omit units for i.
func (x *State) partialLineScores(i, j int, law *splitLaw, curves bool, omit int) (*PiecewiseConstant, error) {
	s := int32(x.Composition.amounts[i] + x.Composition.amounts[j])
	first := true
	for k, t := range x.terms {
		if t.curveScorer != nil && !curves {
			continue
		}
		p := &x.termPieces
		p.Reset()
		if t.splitScorer != nil {
			t.splitScorer.Splits(i, j, x.relevantSplits(k, int(s), law), p)
		} else {
			t.scorer.Line(i, j, p)
		}
		for q := range p.values {
			p.values[q] = float64(p.values[q] * t.objective.Weight)
		}
		if err := x.checkPieces(t, p, s, i, j); err != nil {
			return nil, err
		}
		if first {
			if k == 0 && omit >= 0 && x.target.space.rules != nil && p.isOnlySplit(omit, int(s)) {
				return nil, nil
			}
			x.termPieces, x.sumPieces, first = x.sumPieces, x.termPieces, false
			continue
		}
		addPieces(&x.nextSum, &x.sumPieces, p)
		x.sumPieces, x.nextSum = x.nextSum, x.sumPieces
	}
	if first {
		x.sumPieces.Reset()
		x.sumPieces.Add(0, 0)
	}
	return &x.sumPieces, nil
}

// isOnlySplit reports whether p is −Inf at all splits of 0..s other than k.
func (p *PiecewiseConstant) isOnlySplit(k, s int) bool {
	for q, v := range p.values {
		end := s + 1
		if q+1 < len(p.starts) {
			end = int(p.starts[q+1])
		}
		if v > negInf && (int(p.starts[q]) != k || end != k+1) {
			return false
		}
	}
	return true
}

// relevantSplits returns, for each division of the joint amount s of two ingredients, whether the
// score of term k matters. The result is −Inf where the score does not matter: where the law gives
// the division no mass, or an earlier term forbids it.
func (x *State) relevantSplits(k, s int, law *splitLaw) *PiecewiseConstant {
	w, acc := &x.nextSum, &x.sumPieces
	w.Reset()
	if k == 0 {
		acc.Reset()
		acc.Add(0, 0)
	}
	value := func(v, weight float64) float64 {
		if weight == 0 {
			return negInf
		}
		return v
	}
	w.Add(0, value(acc.values[0], law.zeroWeight))
	for q, v := range acc.values {
		if from, to := innerSplitsOfPiece(acc, q, s); from < to {
			w.Add(from, value(v, law.innerWeight))
		}
	}
	w.Add(s, value(acc.values[len(acc.values)-1], law.fullWeight))
	return w
}

// checkPieces returns an error if the pieces p that the scorer of t returned are not a function of
// the splits 0..s. The first piece must start at 0, and the starts must rise up to at most s.
func (x *State) checkPieces(t scoredTerm, p *PiecewiseConstant, s int32, i, j int) error {
	last := int32(-1)
	for q, start := range p.starts {
		if start <= last || (q == 0 && start != 0) || start > s {
			return fmt.Errorf("property %q gave the line of %d and %d at %v a piece %d that starts at split %d after %d, of %d", t.objective.Name, i, j, x.Composition, q, start, last, s)
		}
		last = start
	}
	if last < 0 {
		return fmt.Errorf("property %q gave the line of %d and %d at %v no pieces", t.objective.Name, i, j, x.Composition)
	}
	return nil
}

// invalidSplitError returns an error that names the property whose score is invalid if i has k
// units of the joint amount of i and j.
func (x *State) invalidSplitError(i, j, k int) error {
	y := x.Composition.Clone()
	y.moveUnchecked(i, j, k)
	if _, err := sumScores(newScoredTerms(x.target, y), y, true); err != nil {
		return err
	}
	for _, t := range x.terms { // look for a scorer that returns an invalid score from Line alone
		p := &x.termPieces
		p.Reset()
		t.scorer.Line(i, j, p)
		q := len(p.starts) - 1
		for int(p.starts[q]) > k {
			q--
		}
		if score := float64(t.objective.Weight * p.values[q]); invalidScore(score) {
			return newScoreError(t.objective.Name, t.scorer, score, y)
		}
	}
	return fmt.Errorf("the properties together have no score at %v on the line of %d and %d, and by itself each has one", y, i, j)
}

// A weighedLine holds the results of [State.weighSplits] other than the weights themselves.
type weighedLine struct {
	omittedWeight float64 // weight of the split that draws leave out
	otherWeight   float64 // sum of the weights of all other splits
	omittedPiece  int     // index of the piece that contains the omitted split; −1 if that split is an end or none is omitted
}

// greatestValues returns the greatest log score if all units of i and j go to one of them, and the
// greatest if both get units. It ignores divisions to which the law gives no weight. A result is
// −Inf if no division is left. It returns an error if a score that matters is invalid.
func (x *State) greatestValues(p *PiecewiseConstant, i, j int, law *splitLaw) (end, inner float64, err error) {
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	first, last := p.values[0], p.values[len(p.values)-1]
	end, inner = negInf, negInf
	if law.zeroWeight > 0 {
		if invalidScore(first) {
			return 0, 0, x.invalidSplitError(i, j, 0)
		}
		end = first
	}
	if law.fullWeight > 0 && !(last <= end) {
		if invalidScore(last) {
			return 0, 0, x.invalidSplitError(i, j, s)
		}
		end = last
	}
	if law.innerWeight > 0 {
		for q, v := range p.values {
			if v <= inner {
				continue
			}
			if from, to := innerSplitsOfPiece(p, q, s); from < to {
				if invalidScore(v) {
					return 0, 0, x.invalidSplitError(i, j, from)
				}
				inner = v
			}
		}
	}
	return end, inner, nil
}

// weighSplits fills x.weights with the weights of the choices on the line of (i, j). The choices
// are the end k = 0, the end k = s, and for each piece its splits between the ends. The weight of a
// split is proportional to exp(β·value) times its mass in law. The split omit gets no weight; −1
// omits none.
//
// All weights are relative to the greatest value among the splits to which the law gives weight. So
// at least one weight does not underflow. Values at splits without mass are ignored: they may be
// invalid, or far above all others.
func (x *State) weighSplits(p *PiecewiseConstant, i, j int, law *splitLaw, omit int) (weighedLine, error) {
	topEnd, topInner, err := x.greatestValues(p, i, j, law)
	if err != nil {
		return weighedLine{}, err
	}
	if topEnd == negInf && topInner == negInf {
		return weighedLine{}, fmt.Errorf("the line of %d and %d at %v has nothing that is allowed, not even where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return x.weighSplitsScaled(p, x.Composition.Amount(i)+x.Composition.Amount(j), law, omit, topEnd, topInner), nil
}

// weighSplitsScaled is weighSplits for the splits 0..s, given the results of greatestValues.
func (x *State) weighSplitsScaled(p *PiecewiseConstant, s int, law *splitLaw, omit int, topEnd, topInner float64) weighedLine {
	n := len(p.starts)
	first, last := p.values[0], p.values[n-1]
	top, endShift, innerShift := max(topEnd, topInner), 0.0, 0.0
	if law.logShift != 0 {
		if float64(x.beta*(topInner-topEnd))+law.logShift > 0 {
			top, endShift = topInner, -law.logShift
		} else {
			top, innerShift = topEnd, law.logShift
		}
	}

	if cap(x.choiceWeights) < n+2 {
		x.choiceWeights = make([]float64, 2*(n+2))
	}
	w := x.choiceWeights[:n+2]
	x.choiceWeights = w
	line := weighedLine{omittedPiece: -1}
	w[0], w[1] = 0, 0
	if law.zeroWeight > 0 {
		w[0] = float64(law.zeroWeight * portable.Exp(float64(x.beta*(first-top))+endShift))
	}
	if law.fullWeight > 0 {
		w[1] = float64(law.fullWeight * portable.Exp(float64(x.beta*(last-top))+endShift))
	}
	switch omit {
	case 0:
		line.omittedWeight, w[0] = w[0], 0
	case s:
		line.omittedWeight, w[1] = w[1], 0
	}
	line.otherWeight = w[0] + w[1]
	for q, v := range p.values {
		from, to := innerSplitsOfPiece(p, q, s)
		if from >= to || law.innerWeight == 0 {
			w[q+2] = 0
			continue
		}
		each := float64(law.innerWeight * portable.Exp(float64(x.beta*(v-top))+innerShift))
		if from <= omit && omit < to {
			line.omittedPiece, line.omittedWeight = q, each
			to--
		}
		w[q+2] = float64(each * float64(to-from))
		line.otherWeight += w[q+2]
	}
	return line
}

// drawWeighedSplit draws a split in proportion to the weights of [State.weighSplits]. It returns
// the split, its value and its weight.
func (x *State) drawWeighedSplit(r *Rand, p *PiecewiseConstant, s int, line *weighedLine, omit int) (k int, value, weight float64) {
	w := x.choiceWeights
	choice := r.Categorical(w)
	switch choice {
	case 0:
		return 0, p.values[0], w[0]
	case 1:
		return s, p.values[len(p.values)-1], w[1]
	}
	q := choice - 2
	from, to := innerSplitsOfPiece(p, q, s)
	if q == line.omittedPiece {
		to--
	}
	k = from
	if to-from > 1 {
		k += r.Intn(to - from)
	}
	if q == line.omittedPiece && k >= omit {
		k++
	}
	return k, p.values[q], w[choice] / float64(to-from)
}
