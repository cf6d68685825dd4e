package mcmc

import (
	"math"

	"kir/internal/portable"
)

// An envelope is a law on the splits of a line that is nowhere below the line's own law. The line's
// law is drawn from it by rejection, so that not every split has to be weighed.
//
// The envelope divides the splits into spans. The mass of a span is its length times an upper bound
// of the weight of its splits. Spans are cut until about half of the drawn splits are kept, and
// once more wherever one is rejected. Each try keeps split k with probability ∝ w(k), whatever the
// spans and the earlier tries. So the kept splits follow the line's law however loose the bounds
// are, as long as they are bounds. (The method is that of Gilks and Wild, "Adaptive rejection
// sampling for Gibbs sampling", Applied Statistics 41 (1992), 337–348, with steps for a hull, so
// that the law need not be log-concave.) The sum of the line's weights is never known and never
// needed.
//
// Where a few hundred spans are not enough, all splits are weighed.
type envelope struct {
	spans []span
	omit  int     // index of the span that holds the omitted split; −1 if none is omitted
	top   float64 // the greatest upper bound of a span, as a log weight
	peaks []int
	curve []curve
	beta  float64
	plain bool    // whether to draw by weighing all splits instead
	score float64 // log score of the split drawn last
	law   splitLaw
	i, j  int
	s     int
}

// A curve is a property that is a known function along the line, and its weight.
type curve struct {
	CurveScorer
	weight float64
}

// A span is the splits from ≤ k ≤ to of a line over which the law and the pieces of the other
// properties are constant.
type span struct {
	from, to           int
	law, pieces        float64 // log weight by the law; log score by the other properties
	scoreFrom, scoreTo float64 // the log scores at from and at to
	bound              float64 // upper bound of the log scores of the splits of the span
	mass               float64 // the span's share of the envelope, in units of e^top
	excess             float64 // estimate of how far mass exceeds the weights of the splits
}

const (
	enoughSpans = 48  // number of spans up to which fit cuts before the first draw
	mostSpans   = 256 // number of spans beyond which all splits are weighed
)

// at returns Σ_k c_k·log y_k at split k, given the sum of the pieces there.
func (e *envelope) at(pieces float64, k int) float64 {
	for c := range e.curve {
		pieces += float64(e.curve[c].weight * e.curve[c].At(k))
	}
	return pieces
}

// upperBound returns an upper bound of the scores at the splits from ≤ k ≤ to. It rounds products and
// sums the same way as the scores, which keeps their order.
func (e *envelope) upperBound(pieces float64, from, to int) float64 {
	for c := range e.curve {
		pieces += float64(e.curve[c].weight * e.curve[c].Above(from, to))
	}
	return pieces
}

// add adds the splits from ≤ k ≤ to. The split omit gets a span of its own, and peaks are at the
// ends of spans.
func (e *envelope) add(from, to int, law, pieces float64, omit int) {
	if from > to || pieces == negInf {
		return
	}
	if from <= omit && omit <= to {
		e.add(from, omit-1, law, pieces, -1)
		e.omit = len(e.spans)
		value := e.at(pieces, omit)
		e.spans = append(e.spans, span{from: omit, to: omit, law: law, pieces: pieces, scoreFrom: value, scoreTo: value, bound: value})
		from = omit + 1
	}
	for _, peak := range e.peaks {
		if from < peak && peak <= to {
			e.add(from, peak-1, law, pieces, -1)
			from = peak
		}
	}
	if from <= to {
		n := span{from: from, to: to, law: law, pieces: pieces, scoreFrom: e.at(pieces, from)}
		if n.scoreTo = n.scoreFrom; from < to {
			n.scoreTo = e.at(pieces, to)
		}
		if e.bound(&n); n.bound > negInf || e.plain {
			e.spans = append(e.spans, n)
		}
	}
}

// bound computes the bound of a span whose ends are known.
func (e *envelope) bound(n *span) {
	n.bound = max(n.scoreFrom, n.scoreTo)
	if n.to-n.from > 1 {
		n.bound = max(n.bound, e.upperBound(n.pieces, n.from, n.to))
	}
	if badScore(n.bound) {
		e.plain = true // weighing all splits reports the invalid score, if it matters
	}
}

// log returns the log weight of a score on a span.
func (e *envelope) log(n *span, score float64) float64 { return n.law + float64(e.beta*score) }

// findScale cuts the span with the highest bound until some weight is close to it. That weight is the
// scale for all others.
func (e *envelope) findScale() {
	for {
		high, found := -1, negInf
		e.top = negInf
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omit {
				continue
			}
			top := e.log(n, n.bound)
			if top > e.top {
				high, e.top = q, top
			}
			e.plain = e.plain || top == negInf && n.bound > negInf // β·bound overflowed to −Inf
			found = max(found, e.log(n, max(n.scoreFrom, n.scoreTo)))
		}
		switch {
		case e.plain:
			return
		case high < 0 && e.omit >= 0: // every split but the omitted one weighs 0
			e.top = 0
			return
		case high < 0 || math.IsInf(e.top, 1):
			e.plain = true
		case e.top-found <= 1:
			return
		default:
			e.cut(high, e.middle(&e.spans[high]))
		}
	}
}

// fit cuts spans until the envelope is close to the line's law.
func (e *envelope) fit() {
	for q := range e.spans {
		if q != e.omit {
			e.weigh(q)
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
			if loose += n.excess; n.from < n.to && (worst < 0 || n.excess > e.spans[worst].excess) {
				worst = q
			}
		}
		if worst < 0 || loose <= 2*mass/3 {
			return
		}
		e.cut(worst, e.middle(&e.spans[worst]))
		e.weigh(worst)
		e.weigh(len(e.spans) - 1)
	}
}

// weigh computes the mass of a span.
func (e *envelope) weigh(q int) {
	n := &e.spans[q]
	splits := float64(n.to - n.from + 1)
	// The bound of the omitted split may be far above all others; no bound is that far below.
	n.mass = float64(splits * portable.Exp(min(e.log(n, n.bound)-e.top, 700)))
	if n.excess = 0; n.from < n.to {
		fall := e.log(n, n.bound) - float64((e.log(n, n.scoreFrom)+e.log(n, n.scoreTo))/2)
		if n.excess = n.mass; fall <= math.MaxFloat64 {
			n.excess = float64(n.excess * (fall / (1 + fall)))
		}
	}
}

// middle returns the last split of the first part when a span is cut. It is in the middle if the
// ends weigh about the same. Otherwise it is near the higher end, at a fraction 1/√D of the way,
// where D is the fall of the log weight over the span. By that point a parabola has fallen by 1,
// and a straight line by √D.
func (e *envelope) middle(n *span) int {
	length := n.to - n.from
	fall := float64(e.beta * math.Abs(n.scoreFrom-n.scoreTo))
	if !(fall > 4 && fall <= math.MaxFloat64) || e.beta*(n.bound-max(n.scoreFrom, n.scoreTo)) > 1 {
		return n.from + (length-1)/2
	}
	part := int(float64(length-1) / math.Sqrt(fall))
	if n.scoreFrom > n.scoreTo {
		return n.from + part
	}
	return n.to - 1 - part
}

// cut divides a span in two: its splits up to last, and a new span that is appended.
func (e *envelope) cut(q, last int) {
	if len(e.spans) == mostSpans {
		e.plain = true
		return
	}
	n := &e.spans[q]
	more := *n
	n.to, more.from = last, last+1
	if n.scoreTo = n.scoreFrom; n.from < n.to {
		n.scoreTo = e.at(n.pieces, n.to)
	}
	if more.scoreFrom = more.scoreTo; more.from < more.to {
		more.scoreFrom = e.at(n.pieces, more.from)
	}
	e.bound(n)
	e.bound(&more)
	e.spans = append(e.spans, more)
}

// draw draws a split other than omit by the law of an envelope's line, and returns it with its log
// weight. ok is false if no other split has weight, and also if plain is set, which means that all
// splits are to be weighed. With an oracle, which cannot decide rejections, plain is set too.
func (e *envelope) draw(r *Rand, omit int) (k int, log float64, ok bool) {
	for !e.plain && r.oracle == nil {
		mass := 0.0
		for q := range e.spans {
			if n := &e.spans[q]; n.from < n.to || n.from != omit {
				mass += n.mass
			}
		}
		if mass == 0 {
			return 0, 0, false
		}
		at, u := -1, float64(r.float64()*mass)
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
			e.score = n.scoreFrom
			return n.from, e.log(n, n.scoreFrom), true
		}
		if k = n.from + r.Intn(n.to-n.from+1); k == omit {
			e.isolate(at, k)
			continue
		}
		e.score = e.at(n.pieces, k)
		if log = e.log(n, e.score); r.Bernoulli(portable.Exp(log - e.log(n, n.bound))) {
			return k, log, true
		}
		e.cut(at, min(k, n.to-1))
		e.weigh(at)
		e.weigh(len(e.spans) - 1)
	}
	e.plain = true
	return 0, 0, false
}

// isolate puts a split of a span into a span of its own.
func (e *envelope) isolate(q, k int) {
	if k > e.spans[q].from {
		e.cut(q, k-1)
		e.weigh(q)
		q = len(e.spans) - 1
	}
	if !e.plain && k < e.spans[q].to {
		e.cut(q, k)
		e.weigh(len(e.spans) - 1)
	}
	e.weigh(q)
}

// log returns the log of the mass that the law gives split k of a line of sum s.
func (w *splitLaw) log(k, s int) float64 {
	switch k {
	case 0:
		return portable.Log(w.zero)
	case s:
		return portable.Log(w.full)
	}
	return portable.Log(w.inner) + w.shift
}

// best returns the split between the ends with the highest score above a bar, 0 if there is none.
// It repeatedly cuts the span with the highest bound.
func (e *envelope) best(bar float64) (split int, score float64) {
	for {
		score = bar
		high, top := -1, bar
		for q := range e.spans {
			n := &e.spans[q]
			if n.from == 0 || n.to == e.s {
				continue
			}
			if n.scoreFrom > score {
				split, score = n.from, n.scoreFrom
			}
			if n.scoreTo > score {
				split, score = n.to, n.scoreTo
			}
			if n.from < n.to && n.bound > top {
				high, top = q, n.bound
			}
		}
		// Rounding may leave bounds slightly above the best score.
		if e.plain || high < 0 || e.beta*(top-score) < 1e-9 {
			return split, score
		}
		if e.cut(high, e.middle(&e.spans[high])); !e.plain {
			e.weigh(high)
			e.weigh(len(e.spans) - 1)
		}
	}
}
