package kir

import (
	"fmt"
	"math"
)

// An envelope is a law of the splits of a line that is nowhere below the line's own,
// and from which that is drawn by rejection, so that not every split is weighed.
//
// The splits are divided into spans, and a span weighs its length times the most
// that a split of it can. Spans are cut until about half of the splits that are
// drawn so are kept, and once more wherever one is not. Each try keeps split k with
// probability ∝ w(k), whatever the spans are and whatever was tried before, and so
// what is kept follows the line's law, however far the bounds are from it: they must
// be bounds. (The method is that of Gilks and Wild, "Adaptive rejection sampling for
// Gibbs sampling", Applied Statistics 41 (1992), 337–348, with steps for a hull, so
// that the law need not be log-concave.) The sum of the line's weights is never
// known, and not needed.
//
// Where a few hundred spans are not enough, all splits are weighed after all.
type envelope struct {
	spans []span
	omit  int     // the span that holds the split left out, −1: none
	top   float64 // the greatest bound, as a log weight
	peaks []int
	plain bool    // all splits are weighed
	score float64 // log score of the split drawn last
	law   splitLaw
	i, j  int
	s     int
}

// A span is the splits from ≤ k ≤ to of a line, on which what the law and the pieces
// of other properties make of them is the same.
type span struct {
	from, to    int
	law, pieces float64 // log weight and log score
	a, b        float64 // the log scores at from and at to
	bound       float64 // of all log scores between
	mass        float64 // the span's share of the envelope, in units of e^top
	loose       float64 // about how much of mass is too much
}

const (
	// shortLine is the sum below which weighing all splits takes less time.
	shortLine = 48

	enoughSpans = 48  // are not cut before the first draw
	mostSpans   = 256 // and with more all splits are weighed
)

// curved says whether a line of sum s is drawn from by an envelope. An oracle, which
// knows no rejection, draws from the same law split by split.
func (x *State) curved(r *Rand, s int) bool {
	return x.curves && x.beta > 0 && (s >= shortLine || r.oracle != nil)
}

// score returns Σ_k c_k·log y_k at split k, of which the pieces are known.
func (x *State) score(pieces float64, k int) float64 {
	for t := range x.terms {
		if t := &x.terms[t]; t.curve != nil {
			pieces += t.wish.Weight * t.curve.At(k)
		}
	}
	return pieces
}

// above returns a bound of the scores at the splits from ≤ k ≤ to. Products and sums
// are rounded the same way, which keeps their order.
func (x *State) above(pieces float64, from, to int) float64 {
	for t := range x.terms {
		if t := &x.terms[t]; t.curve != nil {
			pieces += t.wish.Weight * t.curve.Above(from, to)
		}
	}
	return pieces
}

// envelop returns an envelope of the line of (i, j), from which the split omit, unless
// it is −1, can be left out.
func (x *State) envelop(i, j int, law *splitLaw, omit int) (*envelope, error) {
	e, err := x.spansOf(i, j, law, omit)
	if err != nil {
		return nil, err
	}
	e.climb(x)
	e.fit(x)
	return e, nil
}

// spansOf returns the envelope before it is close to the law.
func (x *State) spansOf(i, j int, law *splitLaw, omit int) (*envelope, error) {
	p, err := x.lineOf(i, j, law, false)
	if err != nil {
		return nil, err
	}
	s := x.Composition.Amount(i) + x.Composition.Amount(j)
	e := &x.envelope
	*e = envelope{spans: e.spans[:0], peaks: e.peaks[:0], omit: -1, law: *law, i: i, j: j, s: s}
	for t := range x.terms {
		if t := &x.terms[t]; t.curve != nil {
			if peak := t.curve.Curve(i, j); 0 < peak && peak < s {
				e.peaks = append(e.peaks, peak)
			}
		}
	}
	if law.zero > 0 {
		e.add(x, 0, 0, math.Log(law.zero), p.values[0], omit)
	}
	if law.full > 0 {
		e.add(x, s, s, math.Log(law.full), p.values[len(p.values)-1], omit)
	}
	if law.inner > 0 {
		inner := math.Log(law.inner) + law.shift
		for q, v := range p.values {
			from, to := innerSplits(p, q, s)
			e.add(x, from, to-1, inner, v, omit)
		}
	}
	if e.omit < 0 && omit >= 0 && !e.plain {
		return nil, fmt.Errorf("the line of %d and %d at %v does not allow where it is: what a scorer says of the line differs from what it says of the point", i, j, x.Composition)
	}
	return e, nil
}

// add adds the splits from ≤ k ≤ to, with the split omit and peaks in spans of their
// own and at their ends.
func (e *envelope) add(x *State, from, to int, law, pieces float64, omit int) {
	if from > to || pieces == negInf {
		return
	}
	if from <= omit && omit <= to {
		e.add(x, from, omit-1, law, pieces, -1)
		e.omit = len(e.spans)
		value := x.score(pieces, omit)
		e.spans = append(e.spans, span{from: omit, to: omit, law: law, pieces: pieces, a: value, b: value, bound: value})
		from = omit + 1
	}
	for _, peak := range e.peaks {
		if from < peak && peak <= to {
			e.add(x, from, peak-1, law, pieces, -1)
			from = peak
		}
	}
	if from <= to {
		n := span{from: from, to: to, law: law, pieces: pieces, a: x.score(pieces, from)}
		if n.b = n.a; from < to {
			n.b = x.score(pieces, to)
		}
		if e.bound(x, &n); n.bound > negInf || e.plain {
			e.spans = append(e.spans, n)
		}
	}
}

// bound fills in the bound of a span whose ends are known.
func (e *envelope) bound(x *State, n *span) {
	n.bound = max(n.a, n.b)
	if n.to-n.from > 1 {
		n.bound = max(n.bound, x.above(n.pieces, n.from, n.to))
	}
	if badScore(n.bound) {
		e.plain = true // which finds out what is wrong, if that matters
	}
}

// log returns the log weight of a score on a span.
func (n *span) log(x *State, score float64) float64 { return n.law + x.beta*score }

// climb cuts the span of the highest bound until some weight is close to it, so that
// all others can be measured by it.
func (e *envelope) climb(x *State) {
	for {
		high, found := -1, negInf
		e.top = negInf
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omit {
				continue
			}
			top := n.log(x, n.bound)
			if top > e.top {
				high, e.top = q, top
			}
			e.plain = e.plain || top == negInf && n.bound > negInf // β times it is less than there is
			found = max(found, n.log(x, max(n.a, n.b)))
		}
		switch {
		case e.plain:
			return
		case high < 0 && e.omit >= 0: // nothing else has weight
			e.top = 0
			return
		case high < 0 || math.IsInf(e.top, 1):
			e.plain = true
		case e.top-found <= 1:
			return
		default:
			e.cut(x, high, e.spans[high].middle(x))
		}
	}
}

// fit cuts spans until the envelope is close to the line's law.
func (e *envelope) fit(x *State) {
	for q := range e.spans {
		if q != e.omit {
			e.weigh(x, q)
		}
	}
	for len(e.spans) < enoughSpans && !e.plain {
		mass, loose, worst := 0.0, 0.0, -1
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omit {
				continue
			}
			mass += n.mass
			if loose += n.loose; n.from < n.to && (worst < 0 || n.loose > e.spans[worst].loose) {
				worst = q
			}
		}
		if worst < 0 || loose <= 2*mass/3 {
			return
		}
		e.cut(x, worst, e.spans[worst].middle(x))
		e.weigh(x, worst)
		e.weigh(x, len(e.spans)-1)
	}
}

// weigh fills in the mass of a span.
func (e *envelope) weigh(x *State, q int) {
	n := &e.spans[q]
	splits := float64(n.to - n.from + 1)
	// What is left out may be far above all others; none is below by as much.
	n.mass = splits * math.Exp(min(n.log(x, n.bound)-e.top, 700))
	if n.loose = 0; n.from < n.to {
		fall := n.log(x, n.bound) - (n.log(x, n.a)+n.log(x, n.b))/2
		if n.loose = n.mass; fall <= math.MaxFloat64 {
			n.loose *= fall / (1 + fall)
		}
	}
}

// middle returns where to cut a span: the last split of its first part. That is in the
// middle if its ends weigh about the same; else near the higher end, at √D of the
// way where the log weight falls by D: there a parabola has fallen by 1, and what
// falls evenly by √D.
func (n *span) middle(x *State) int {
	length := n.to - n.from
	fall := x.beta * math.Abs(n.a-n.b)
	if !(fall > 4 && fall <= math.MaxFloat64) || x.beta*(n.bound-max(n.a, n.b)) > 1 {
		return n.from + (length-1)/2
	}
	part := int(float64(length-1) / math.Sqrt(fall))
	if n.a > n.b {
		return n.from + part
	}
	return n.to - 1 - part
}

// cut divides a span in two: its splits up to last, and a new last span.
func (e *envelope) cut(x *State, q, last int) {
	if len(e.spans) == mostSpans {
		e.plain = true
		return
	}
	n := &e.spans[q]
	more := *n
	n.to, more.from = last, last+1
	if n.b = n.a; n.from < n.to {
		n.b = x.score(n.pieces, n.to)
	}
	if more.a = more.b; more.from < more.to {
		more.a = x.score(n.pieces, more.from)
	}
	e.bound(x, n)
	e.bound(x, &more)
	e.spans = append(e.spans, more)
}

// draw draws a split other than omit by the law of an envelope's line, and returns
// it with its log weight; ok is false if no other has weight.
func (e *envelope) draw(r *Rand, x *State, omit int) (k int, log float64, ok bool, err error) {
	for !e.plain && r.oracle == nil {
		mass := 0.0
		for q := range e.spans {
			if n := &e.spans[q]; n.from < n.to || n.from != omit {
				mass += n.mass
			}
		}
		if mass == 0 {
			return 0, 0, false, nil
		}
		at, u := -1, r.float64()*mass
		for q := range e.spans {
			n := &e.spans[q]
			if n.from == omit && n.to == omit || n.mass == 0 {
				continue
			}
			at = q
			if u < n.mass {
				break
			}
			u -= n.mass // rounding may carry it past the end
		}
		n := &e.spans[at]
		if n.from == n.to {
			e.score = n.a
			return n.from, n.log(x, n.a), true, nil
		}
		if k = n.from + r.Intn(n.to-n.from+1); k == omit {
			e.isolate(x, at, k)
			continue
		}
		e.score = x.score(n.pieces, k)
		if log = n.log(x, e.score); r.Bernoulli(math.Exp(log - n.log(x, n.bound))) {
			return k, log, true, nil
		}
		e.cut(x, at, min(k, n.to-1))
		e.weigh(x, at)
		e.weigh(x, len(e.spans)-1)
	}
	return e.drawPlain(r, x, omit)
}

// isolate puts a split of a span in one of its own.
func (e *envelope) isolate(x *State, q, k int) {
	if k > e.spans[q].from {
		e.cut(x, q, k-1)
		e.weigh(x, q)
		q = len(e.spans) - 1
	}
	if !e.plain && k < e.spans[q].to {
		e.cut(x, q, k)
		e.weigh(x, len(e.spans)-1)
	}
	e.weigh(x, q)
}

// drawPlain is draw by weighing all splits.
func (e *envelope) drawPlain(r *Rand, x *State, omit int) (k int, log float64, ok bool, err error) {
	p, err := x.line(e.i, e.j, &e.law)
	if err != nil {
		return 0, 0, false, err
	}
	line, err := x.weigh(p, e.i, e.j, &e.law, omit)
	if err != nil || line.rest == 0 {
		return 0, 0, false, err
	}
	k, e.score, _ = x.drawWeighed(r, p, e.s, &line, omit)
	return k, e.law.log(k, e.s) + x.beta*e.score, true, nil
}

// log returns the log of what the law gives split k of a line of sum s.
func (w *splitLaw) log(k, s int) float64 {
	switch k {
	case 0:
		return math.Log(w.zero)
	case s:
		return math.Log(w.full)
	}
	return math.Log(w.inner) + w.shift
}

// takeAnotherCurved is [State.takeAnotherSplit] by an envelope. With t and h the weights
// of the split that is drawn and of where the chain stands, and W their sum with all
// others', what is drawn is rejected with probability
//
//	1 − (W − h)/(W − t) = h/(W − t) · (1 − t/h)   where t < h,
//
// and of this the first factor is how often h is what is drawn when t is left out.
func (x *State) takeAnotherCurved(r *Rand, i, j int, law *splitLaw) (outcome, error) {
	was := x.Composition.Amount(i)
	e, err := x.envelop(i, j, law, was)
	if err != nil {
		return rejected, err
	}
	x.seeCurved(e)
	k, there, ok, err := e.draw(r, x, was)
	if err != nil || !ok {
		return stayed, err
	}
	at := &e.spans[e.omit]
	if here := at.log(x, at.a); there < here {
		e.weigh(x, e.omit)
		again, _, _, err := e.draw(r, x, k)
		if err != nil {
			return rejected, err
		}
		if again == was && r.Bernoulli(-math.Expm1(there-here)) {
			return rejected, nil
		}
	}
	return updated, x.moveTo(i, j, k, math.NaN())
}

// best returns the split between the ends with the highest score above a bar, 0 if
// there is none, by cutting the span of the highest bound.
func (e *envelope) best(x *State, bar float64) (split int, score float64) {
	for {
		score = bar
		high, top := -1, bar
		for q := range e.spans {
			n := &e.spans[q]
			if n.from == 0 || n.to == e.s {
				continue
			}
			if n.a > score {
				split, score = n.from, n.a
			}
			if n.b > score {
				split, score = n.to, n.b
			}
			if n.from < n.to && n.bound > top {
				high, top = q, n.bound
			}
		}
		// Bounds are above the best by some roundings.
		if e.plain || high < 0 || x.beta*(top-score) < 1e-9 {
			return split, score
		}
		if e.cut(x, high, e.spans[high].middle(x)); !e.plain {
			e.weigh(x, high)
			e.weigh(x, len(e.spans)-1)
		}
	}
}

// seeCurved is [finds.seeLine] of an envelope's line.
func (x *State) seeCurved(e *envelope) {
	f := x.finds
	if f == nil || e.plain {
		return
	}
	if split, score := e.best(x, f.bar); split > 0 {
		f.addSplit(x.Composition, e.i, e.j, split, score)
	}
	for q := range e.spans {
		if n := &e.spans[q]; (n.from == 0 || n.to == e.s) && n.a > f.bar {
			f.addSplit(x.Composition, e.i, e.j, n.from, n.a)
		}
	}
}
