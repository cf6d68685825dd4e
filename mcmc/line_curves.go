package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// shortLine is the sum below which it takes less time to weigh all splits.
const shortLine = 48

// usesEnvelope reports whether an envelope draws from a line of sum s. An oracle cannot decide
// rejections, so with one the same law is drawn split by split.
func (x *State) usesEnvelope(r *Rand, s int) bool {
	return x.curves && x.beta > 0 && (s >= shortLine || r.oracle != nil)
}

// newEnvelope returns an envelope of the line of (i, j). Draws can leave out the split omit, unless
// it is −1.
func (x *State) newEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	e, err := x.startEnvelope(i, j, law, omit)
	if e == nil {
		return nil, err
	}
	e.findScale()
	e.fit()
	return e, nil
}

// startEnvelope returns the envelope before it is fitted to the law, nil where the rules allow no
// split but omit.
func (x *State) startEnvelope(i, j int, law *splitLaw, omit int) (*envelope, error) {
	p, err := x.lineOf(i, j, law, false, omit)
	if p == nil {
		return nil, err
	}
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	e := &x.envelope
	*e = envelope{spans: e.spans[:0], peaks: e.peaks[:0], curve: e.curve[:0], beta: x.beta, omit: -1, law: *law, i: i, j: j, s: s}
	for t := range x.terms {
		if t := &x.terms[t]; t.curveScorer != nil {
			e.curve = append(e.curve, curve{t.curveScorer, t.objective.Weight})
			if peak := t.curveScorer.Curve(i, j); 0 < peak && peak < s {
				e.peaks = append(e.peaks, peak)
			}
		}
	}
	if law.zero > 0 {
		e.add(0, 0, portable.Log(law.zero), p.values[0], omit)
	}
	if law.full > 0 {
		e.add(s, s, portable.Log(law.full), p.values[len(p.values)-1], omit)
	}
	if law.inner > 0 {
		inner := portable.Log(law.inner) + law.shift
		for q, v := range p.values {
			from, to := innerSplits(p, q, s)
			e.add(from, to-1, inner, v, omit)
		}
	}
	if e.omit < 0 && omit >= 0 {
		return nil, fmt.Errorf("the line of %d and %d at %v does not allow where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return e, nil
}

// drawFrom draws a split other than omit by the law of an envelope's line, and returns it with its
// log weight. ok is false if no other split has weight.
func (x *State) drawFrom(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	if k, log, ok = e.draw(r, omit); e.plain && !ok {
		return x.drawPlain(r, e, omit)
	}
	return k, log, ok, nil
}

// drawPlain is drawFrom by weighing all splits.
func (x *State) drawPlain(r *Rand, e *envelope, omit int) (k int, log float64, ok bool, err error) {
	p, err := x.line(e.i, e.j, &e.law)
	if err != nil {
		return 0, 0, false, err
	}
	x.visited.addLine(x.Composition, p, e.i, e.j, &e.law)
	line, err := x.weigh(p, e.i, e.j, &e.law, omit)
	if err != nil || line.otherWeight == 0 {
		return 0, 0, false, err
	}
	k, e.score, _ = x.drawWeighed(r, p, e.s, &line, omit)
	return k, e.law.log(k, e.s) + float64(x.beta*e.score), true, nil
}

// takeAnotherCurved is [State.takeAnotherSplit] with an envelope. Let t be the weight of the drawn
// split, h that of the current one, and W the sum of all weights. The drawn split is rejected with
// probability
//
//	1 − (W − h)/(W − t) = h/(W − t) · (1 − t/h)   where t < h.
//
// The first factor is the probability of drawing h when t is left out.
func (x *State) takeAnotherCurved(r *Rand, i, j int, law *splitLaw) (outcome, error) {
	was := x.Composition.Amount(i)
	e, err := x.newEnvelope(i, j, law, was)
	if e == nil {
		return stayed, err
	}
	x.recordCurved(e)
	k, there, ok, err := x.drawFrom(r, e, was)
	if err != nil || !ok {
		return stayed, err
	}
	at := &e.spans[e.omit]
	if here := e.log(at, at.scoreFrom); there < here {
		e.weigh(e.omit)
		again, _, _, err := x.drawFrom(r, e, k)
		if err != nil {
			return rejected, err
		}
		if again == was && r.Bernoulli(-portable.Expm1(there-here)) {
			return rejected, nil
		}
	}
	return updated, x.moveTo(i, j, k, math.NaN())
}

// recordCurved is [visitedStates.addLine] for an envelope's line.
func (x *State) recordCurved(e *envelope) {
	f := x.visited
	if f == nil || e.plain {
		return
	}
	if split, score := e.best(f.bar); split > 0 {
		f.addSplit(x.Composition, e.i, e.j, split, score)
	}
	for q := range e.spans {
		if n := &e.spans[q]; (n.from == 0 || n.to == e.s) && n.scoreFrom > f.bar {
			f.addSplit(x.Composition, e.i, e.j, n.from, n.scoreFrom)
		}
	}
}

// drawSplit draws a split of the line of (i, j) in proportion to exp(β·value) times the law's mass.
// It returns the split with its value, for [State.moveTo]. The current split is among the pieces,
// so at least one has weight.
func (x *State) drawSplit(r *Rand, i, j int, law *splitLaw) (k int, value float64, err error) {
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	if x.usesEnvelope(r, s) {
		e, err := x.newEnvelope(i, j, law, -1)
		if err != nil {
			return 0, 0, err
		}
		k, _, _, err = x.drawFrom(r, e, -1)
		return k, math.NaN(), err
	}
	p, err := x.line(i, j, law)
	if err != nil {
		return 0, 0, err
	}
	line, err := x.weigh(p, i, j, law, -1)
	if err != nil {
		return 0, 0, err
	}
	k, value, _ = x.drawWeighed(r, p, s, &line, -1)
	return k, value, nil
}
