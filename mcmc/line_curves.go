package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// minEnvelopeSum is the least joint amount of two ingredients for which an [envelope] is used.
// Weighing all splits is faster for smaller amounts.
const minEnvelopeSum = 48

// usesEnvelope reports whether a division of a joint amount s is drawn with an [envelope]. An
// oracle cannot decide the rejections of an envelope, so with an oracle all divisions are weighed
// instead.
func (x *State) usesEnvelope(r *Rand, s int) bool {
	return x.hasCurves && x.beta > 0 && (s >= minEnvelopeSum || r.oracle != nil)
}

// newEnvelope returns an envelope for drawing a division of the joint amount of i and j. If omit is
// not −1, draws leave out the division that gives omit units to i.
func (x *State) newEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	e, err := x.startEnvelope(i, j, law, omit)
	if e == nil {
		return nil, err
	}
	e.findScale()
	e.refineSpans()
	return e, nil
}

// startEnvelope is [State.newEnvelope] without fitting the envelope to the law. It returns nil if
// the rules allow no division other than omit units for i.
func (x *State) startEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	p, err := x.partialLineScores(i, j, law, false, omit)
	if p == nil {
		return nil, err
	}
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	e := &x.envelope
	*e = envelope{spans: e.spans[:0], peakSplits: e.peakSplits[:0], curves: e.curves[:0], beta: x.beta, omittedSpan: -1, law: *law, i: i, j: j, sum: s}
	for t := range x.terms {
		if t := &x.terms[t]; t.curveScorer != nil {
			e.curves = append(e.curves, weightedCurve{t.curveScorer, t.objective.Weight})
			if peak := t.curveScorer.Curve(i, j); 0 < peak && peak < s {
				e.peakSplits = append(e.peakSplits, peak)
			}
		}
	}
	if law.zeroWeight > 0 {
		e.addSplits(0, 0, portable.Log(law.zeroWeight), p.values[0], omit)
	}
	if law.fullWeight > 0 {
		e.addSplits(s, s, portable.Log(law.fullWeight), p.values[len(p.values)-1], omit)
	}
	if law.innerWeight > 0 {
		inner := portable.Log(law.innerWeight) + law.logShift
		for q, v := range p.values {
			from, to := innerSplitsOfPiece(p, q, s)
			e.addSplits(from, to-1, inner, v, omit)
		}
	}
	if e.omittedSpan < 0 && omit >= 0 {
		return nil, fmt.Errorf("the line of %d and %d at %v does not allow where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return e, nil
}

// drawFromEnvelope draws a split by the law to which the envelope belongs, leaving out the split
// omit. It returns the split and its log weight. The result ok is false if no other split has
// weight.
func (x *State) drawFromEnvelope(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	if k, log, ok = e.drawSplit(r, omit); e.weighAll && !ok {
		return x.drawByWeighingAll(r, e, omit)
	}
	return k, log, ok, nil
}

// drawByWeighingAll is [State.drawFromEnvelope], but it weighs all splits.
func (x *State) drawByWeighingAll(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	p, err := x.lineScores(e.i, e.j, &e.law)
	if err != nil {
		return 0, 0, false, err
	}
	x.visited.addLine(x.Composition, p, e.i, e.j, &e.law)
	line, err := x.weighSplits(p, e.i, e.j, &e.law, omit)
	if err != nil || line.otherWeight == 0 {
		return 0, 0, false, err
	}
	k, e.drawnScore, _ = x.drawWeighedSplit(r, p, e.sum, &line, omit)
	return k, e.law.logMass(k, e.sum) + float64(x.beta*e.drawnScore), true, nil
}

// moveToAnotherSplitByEnvelope is [State.moveToAnotherSplit] with an envelope. Let t be the weight
// of the drawn split, h the weight of the current split, and W the sum of all weights. If t < h,
// the drawn split is rejected with probability
//
//	1 − (W − h)/(W − t) = h/(W − t) · (1 − t/h).
//
// The factor h/(W − t) is the probability of drawing the current split when the drawn split is left
// out. A second draw stands for this factor, since W is not known.
func (x *State) moveToAnotherSplitByEnvelope(r *Rand, i, j int, law *splitLaw) (moveOutcome, error) {
	was := x.Composition.Amount(i)
	e, err := x.newEnvelope(i, j, law, was)
	if e == nil {
		return outcomeUnchanged, err
	}
	x.recordEnvelope(e)
	k, there, ok, err := x.drawFromEnvelope(r, e, was)
	if err != nil || !ok {
		return outcomeUnchanged, err
	}
	at := &e.spans[e.omittedSpan]
	if here := e.logWeight(at, at.scoreFrom); there < here {
		e.updateMass(e.omittedSpan)
		again, _, _, err := x.drawFromEnvelope(r, e, k)
		if err != nil {
			return outcomeRejected, err
		}
		if again == was && r.Bernoulli(-portable.Expm1(there-here)) {
			return outcomeRejected, nil
		}
	}
	return outcomeUpdated, x.moveTo(i, j, k, math.NaN())
}

// recordEnvelope does for the line of an envelope what [visitedStates.addLine] does for other
// lines.
func (x *State) recordEnvelope(e *envelope) {
	f := x.visited
	if f == nil || e.weighAll {
		return
	}
	if split, score := e.bestInnerSplit(f.scoreThreshold); split > 0 {
		f.addSplit(x.Composition, e.i, e.j, split, score)
	}
	for q := range e.spans {
		if n := &e.spans[q]; (n.from == 0 || n.to == e.sum) && n.scoreFrom > f.scoreThreshold {
			f.addSplit(x.Composition, e.i, e.j, n.from, n.scoreFrom)
		}
	}
}

// drawSplit draws a division of the joint amount of i and j, with probability proportional to
// exp(β·value) times its mass in law. It returns the units for i and the value, for [State.moveTo].
// The value is NaN if it is not known.
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
