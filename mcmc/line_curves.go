package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// minEnvelopeAmount is the least joint amount of two ingredients that is divided with the help of an
// [envelope]. For smaller amounts it is faster to weigh all divisions.
const minEnvelopeAmount = 48

// usesEnvelope reports whether an [envelope] is used to divide a joint amount s. With an [Oracle]
// an envelope divides small amounts too, but then its draws weigh all divisions, because an Oracle
// cannot decide rejections.
func (x *State) usesEnvelope(r *Rand, s int) bool {
	return x.hasCurveScorers && x.beta > 0 && (s >= minEnvelopeAmount || r.oracle != nil)
}

// newEnvelope returns an envelope for drawing a division of the joint amount of i and j. If omit is
// not −1, the division that gives omit units to i is never drawn.
func (x *State) newEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	e, err := x.newUnfittedEnvelope(i, j, law, omit)
	if e == nil {
		return nil, err
	}
	e.tightenTopBound()
	e.refineSpans()
	return e, nil
}

// newUnfittedEnvelope is [State.newEnvelope], but the bounds of the envelope are still loose. It
// returns nil if the only division that the rules allow gives omit units to i.
func (x *State) newUnfittedEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	p, err := x.partialLineScores(i, j, law, false, omit)
	if p == nil {
		return nil, err
	}
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	e := &x.envelope
	*e = envelope{spans: e.spans[:0], peakSplits: e.peakSplits[:0], curves: e.curves[:0], beta: x.beta, omittedSpan: -1, law: *law, i: i, j: j, jointAmount: s}
	for t := range x.scoredTerms {
		if t := &x.scoredTerms[t]; t.curveScorer != nil {
			e.curves = append(e.curves, weightedCurve{t.curveScorer, t.objective.Weight})
			if peak := t.curveScorer.Curve(i, j); 0 < peak && peak < s {
				e.peakSplits = append(e.peakSplits, peak)
			}
		}
	}
	if law.zeroSplitWeight > 0 {
		e.addSpans(0, 0, portable.Log(law.zeroSplitWeight), p.values[0], omit)
	}
	if law.fullSplitWeight > 0 {
		e.addSpans(s, s, portable.Log(law.fullSplitWeight), p.values[len(p.values)-1], omit)
	}
	if law.innerSplitWeight > 0 {
		inner := portable.Log(law.innerSplitWeight) + law.logShift
		for q, v := range p.values {
			from, to := innerSplitsOfPiece(p, q, s)
			e.addSpans(from, to-1, inner, v, omit)
		}
	}
	if e.omittedSpan < 0 && omit >= 0 {
		return nil, fmt.Errorf("the line of %d and %d at %v does not allow where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return e, nil
}

// drawFromEnvelope draws a division of the joint amount of two ingredients, by the distribution
// that the envelope covers. The division that gives omit units to the first ingredient is never
// drawn. The result k is the number of units for the first ingredient, and log the log weight of
// the division. The result ok is false if no other division has weight.
func (x *State) drawFromEnvelope(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	if k, log, ok = e.drawSplit(r, omit); e.mustWeighAllSplits && !ok {
		return x.drawByWeighingAll(r, e, omit)
	}
	return k, log, ok, nil
}

// drawByWeighingAll is [State.drawFromEnvelope], but it computes the weights of all divisions.
func (x *State) drawByWeighingAll(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	p, err := x.lineScores(e.i, e.j, &e.law)
	if err != nil {
		return 0, 0, false, err
	}
	x.visitedStates.addLine(x.Composition, p, e.i, e.j, &e.law)
	line, err := x.weighSplits(p, e.i, e.j, &e.law, omit)
	if err != nil || line.otherSplitsWeight == 0 {
		return 0, 0, false, err
	}
	k, e.drawnScore, _ = x.drawWeighedSplit(r, p, e.jointAmount, &line, omit)
	return k, e.law.logMass(k, e.jointAmount) + float64(x.beta*e.drawnScore), true, nil
}

// moveToAnotherSplitByEnvelope is [State.moveToAnotherSplit] with an [envelope], for large joint
// amounts. Let t be the weight of the drawn division, h the weight of the current division, and W
// the sum of all weights. If t < h, the drawn division is rejected with probability
//
//	1 − (W − h)/(W − t) = h/(W − t) · (1 − t/h).
//
// The factor h/(W − t) is the probability of drawing the current division when the drawn one is
// left out. Since W is not known, a second draw decides with this probability.
func (x *State) moveToAnotherSplitByEnvelope(r *Rand, i, j int, law *splitLaw) (moveOutcome, error) {
	was := x.Composition.Amount(i)
	e, err := x.newEnvelope(i, j, law, was)
	if e == nil {
		return outcomeUnchanged, err
	}
	x.recordEnvelopeSplits(e)
	k, there, ok, err := x.drawFromEnvelope(r, e, was)
	if err != nil || !ok {
		return outcomeUnchanged, err
	}
	at := &e.spans[e.omittedSpan]
	if here := e.logWeight(at, at.firstSplitScore); there < here {
		e.updateMass(e.omittedSpan)
		again, _, _, err := x.drawFromEnvelope(r, e, k)
		if err != nil {
			return outcomeRejected, err
		}
		if again == was && r.Bernoulli(-portable.Expm1(there-here)) {
			return outcomeRejected, nil
		}
	}
	return outcomeUpdated, x.moveToSplit(i, j, k, math.NaN())
}

// recordEnvelopeSplits records the best divisions of the joint amount that the envelope covers, as
// [visitedStates.addLine] does without an envelope.
func (x *State) recordEnvelopeSplits(e *envelope) {
	f := x.visitedStates
	if f == nil || e.mustWeighAllSplits {
		return
	}
	if split, score := e.bestInnerSplit(f.scoreThreshold); split > 0 {
		f.addSplit(x.Composition, e.i, e.j, split, score)
	}
	for q := range e.spans {
		if n := &e.spans[q]; (n.firstSplit == 0 || n.lastSplit == e.jointAmount) && n.firstSplitScore > f.scoreThreshold {
			f.addSplit(x.Composition, e.i, e.j, n.firstSplit, n.firstSplitScore)
		}
	}
}

// drawSplit draws a division of the joint amount of i and j, with probability proportional to
// exp(β·log score) times its weight in law. The result k is the number of units for i. The result
// value is the log score, or NaN if it is not known. Both are arguments for [State.moveToSplit].
func (x *State) drawSplit(r *Rand, i, j int, law *splitLaw) (k int, value float64, err error) {
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if x.usesEnvelope(r, s) {
		e, err := x.newEnvelope(i, j, law, -1)
		if err != nil {
			return 0, 0, err
		}
		k, _, _, err = x.drawFromEnvelope(r, e, -1)
		return k, math.NaN(), err
	}
	p, err := x.lineScores(i, j, law)
	if err != nil {
		return 0, 0, err
	}
	line, err := x.weighSplits(p, i, j, law, -1)
	if err != nil {
		return 0, 0, err
	}
	k, value, _ = x.drawWeighedSplit(r, p, s, &line, -1)
	return k, value, nil
}
