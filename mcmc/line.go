package mcmc

import (
	"fmt"

	"kir/internal/portable"
)

// lineScores returns the log score Σ_k c_k·log y_k of each division of the joint amount of i and j.
// The result is a function of the units that i gets, valid until the next call. The argument law
// says which divisions have positive weight. The state must have properties to score.
//
// The log score is −Inf if some property forbids the division, whatever the other properties
// return. Any other invalid score, NaN or +Inf, is returned unchanged; [State.weighSplits] reports
// it if it matters.
func (x *State) lineScores(i, j int, law *splitLaw) (*PiecewiseConstant, error) {
	return x.partialLineScores(i, j, law, true, -1)
}

// partialLineScores is [State.lineScores] with two differences. If curves is false, it leaves out
// the properties with a [CurveScorer]. It returns nil if the only division that the rules allow
// gives omit units to i.
func (x *State) partialLineScores(i, j int, law *splitLaw, curves bool, omit int) (*PiecewiseConstant, error) {
	s := int32(x.Composition.amounts[i] + x.Composition.amounts[j])
	first := true
	for k, t := range x.scoredTerms {
		if t.curveScorer != nil && !curves {
			continue
		}
		p := &x.propertyPieces
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
			if k == 0 && omit >= 0 && x.target.space.rules != nil && p.allowsOnlySplit(omit, int(s)) {
				return nil, nil
			}
			x.propertyPieces, x.sumPieces, first = x.sumPieces, x.propertyPieces, false
			continue
		}
		addPieces(&x.nextSumPieces, &x.sumPieces, p)
		x.sumPieces, x.nextSumPieces = x.nextSumPieces, x.sumPieces
	}
	if first {
		x.sumPieces.Reset()
		x.sumPieces.Add(0, 0)
	}
	return &x.sumPieces, nil
}

// allowsOnlySplit reports whether p is −Inf at all integers from 0 to s except k.
func (p *PiecewiseConstant) allowsOnlySplit(k, s int) bool {
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

// relevantSplits returns a function of the splits, that is, the divisions of the joint amount s of
// two ingredients. The function is −Inf at a split where the score of the term with the given index
// does not matter:
//
//   - the law gives the split no weight, or
//   - an earlier term, whose scores are in x.sumPieces, forbids the split.
func (x *State) relevantSplits(termIndex, s int, law *splitLaw) *PiecewiseConstant {
	w, acc := &x.nextSumPieces, &x.sumPieces
	w.Reset()
	if termIndex == 0 {
		acc.Reset()
		acc.Add(0, 0)
	}
	value := func(v, weight float64) float64 {
		if weight == 0 {
			return negInf
		}
		return v
	}
	w.Add(0, value(acc.values[0], law.zeroSplitWeight))
	for q, v := range acc.values {
		if from, to := innerSplitsOfPiece(acc, q, s); from < to {
			w.Add(from, value(v, law.innerSplitWeight))
		}
	}
	w.Add(s, value(acc.values[len(acc.values)-1], law.fullSplitWeight))
	return w
}

// checkPieces returns an error unless the pieces in p are a valid function of 0 to s. The first
// piece must start at 0, and the starts must rise, up to at most s. The error names the term t that
// returned p for the joint amount of the ingredients i and j.
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

// invalidSplitError returns an error that names the property whose score is NaN or +Inf if
// ingredient i has k units of the joint amount of i and j.
func (x *State) invalidSplitError(i, j, k int) error {
	y := x.Composition.Clone()
	y.moveUnchecked(i, j, k)
	if _, err := sumScores(newScoredTerms(x.target, y), y, true); err != nil {
		return err
	}
	for _, t := range x.scoredTerms { // look for a scorer that returns an invalid score from Line alone
		p := &x.propertyPieces
		p.Reset()
		t.scorer.Line(i, j, p)
		q := len(p.starts) - 1
		for int(p.starts[q]) > k {
			q--
		}
		if score := float64(t.objective.Weight * p.values[q]); isInvalidScore(score) {
			return newScoreError(t.objective.Name, t.scorer, score, y)
		}
	}
	return fmt.Errorf("the properties together have no score at %v on the line of %d and %d, and by itself each has one", y, i, j)
}

// A weighedLine holds sums of the weights that [State.weighSplits] computes for the splits, that
// is, the divisions of two ingredients' joint amount.
type weighedLine struct {
	omittedSplitWeight float64 // weight of the omitted split, the one that must not be drawn
	otherSplitsWeight  float64 // sum of the weights of all splits except the omitted one
	omittedPieceIndex  int     // index of the piece that contains the omitted split; −1 if this split is an end or no split is omitted
}

// greatestValues returns two greatest log scores: end, over the divisions that give all units of i
// and j to one of them, and inner, over the divisions that give units to both. The function p holds
// the log scores. Divisions to which the law gives no weight are ignored. A result is −Inf if no
// division remains. An error is returned if a score that matters is NaN or +Inf.
func (x *State) greatestValues(p *PiecewiseConstant, i, j int, law *splitLaw) (end, inner float64, err error) {
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	first, last := p.values[0], p.values[len(p.values)-1]
	end, inner = negInf, negInf
	if law.zeroSplitWeight > 0 {
		if isInvalidScore(first) {
			return 0, 0, x.invalidSplitError(i, j, 0)
		}
		end = first
	}
	if law.fullSplitWeight > 0 && !(last <= end) {
		if isInvalidScore(last) {
			return 0, 0, x.invalidSplitError(i, j, s)
		}
		end = last
	}
	if law.innerSplitWeight > 0 {
		for q, v := range p.values {
			if v <= inner {
				continue
			}
			if from, to := innerSplitsOfPiece(p, q, s); from < to {
				if isInvalidScore(v) {
					return 0, 0, x.invalidSplitError(i, j, from)
				}
				inner = v
			}
		}
	}
	return end, inner, nil
}

// weighSplits computes the weights from which [State.drawWeighedSplit] draws a division of the
// joint amount s of i and j. A division is a split k, which gives k units to i. It fills
// x.choiceWeights:
//
//   - element 0 is the weight of the split 0;
//   - element 1 is the weight of the split s;
//   - element q+2 is the weight of all other splits in piece q of p.
//
// The weight of a split is proportional to exp(β·log score) times its weight in law. The split omit
// gets no weight; −1 omits none.
//
// All weights are relative to the greatest log score among the splits to which the law gives
// weight. So at least one weight does not underflow. The log scores of all other splits are
// ignored: they may be invalid, or far greater.
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

// weighSplitsScaled is weighSplits for a joint amount s. The arguments topEnd and topInner are the
// results of greatestValues.
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
	line := weighedLine{omittedPieceIndex: -1}
	w[0], w[1] = 0, 0
	if law.zeroSplitWeight > 0 {
		w[0] = float64(law.zeroSplitWeight * portable.Exp(float64(x.beta*(first-top))+endShift))
	}
	if law.fullSplitWeight > 0 {
		w[1] = float64(law.fullSplitWeight * portable.Exp(float64(x.beta*(last-top))+endShift))
	}
	switch omit {
	case 0:
		line.omittedSplitWeight, w[0] = w[0], 0
	case s:
		line.omittedSplitWeight, w[1] = w[1], 0
	}
	line.otherSplitsWeight = w[0] + w[1]
	for q, v := range p.values {
		from, to := innerSplitsOfPiece(p, q, s)
		if from >= to || law.innerSplitWeight == 0 {
			w[q+2] = 0
			continue
		}
		each := float64(law.innerSplitWeight * portable.Exp(float64(x.beta*(v-top))+innerShift))
		if from <= omit && omit < to {
			line.omittedPieceIndex, line.omittedSplitWeight = q, each
			to--
		}
		w[q+2] = float64(each * float64(to-from))
		line.otherSplitsWeight += w[q+2]
	}
	return line
}

// drawWeighedSplit draws a division of the joint amount s in proportion to the weights of
// [State.weighSplits]. It returns the division k, its log score and its weight.
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
	if q == line.omittedPieceIndex {
		to--
	}
	k = from
	if to-from > 1 {
		k += r.Intn(to - from)
	}
	if q == line.omittedPieceIndex && k >= omit {
		k++
	}
	return k, p.values[q], w[choice] / float64(to-from)
}
