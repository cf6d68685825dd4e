package mcmc

import (
	"math"

	"kir/internal/portable"
)

// An envelope serves to draw a split of a line without weighing all splits, by rejection sampling.
// It is a function of the splits that is nowhere below the weight of a split.
//
// The envelope divides the splits into spans. The mass of a span is its number of splits times an
// upper bound of their weights. Spans are cut until about half of the drawn splits are accepted,
// and a span is cut again whenever a split in it is rejected. Each try accepts split k with
// probability ∝ w(k), its weight, whatever the spans and the earlier tries. So the accepted splits
// follow the law of the line however loose the bounds are. (The method is that of Gilks and Wild,
// "Adaptive rejection sampling for Gibbs sampling", Applied Statistics 41 (1992), 337–348. The hull
// consists of steps, so the law need not be log-concave.) The sum of the weights is never computed.
//
// If a few hundred spans are not enough, all splits are weighed.
type envelope struct {
	spans        []span
	omittedSpan  int             // index of the span that is the omitted split; −1 if no split is omitted
	topLogWeight float64         // the greatest upper bound of the log weights of a span
	peakSplits   []int           // the splits at which scores of a property peak; spans begin there
	curves       []weightedCurve // the properties whose log scores are known functions of the split
	beta         float64         // the power to which the properties are raised
	weighAll     bool            // whether draws must weigh all splits instead
	drawnScore   float64         // log score of the split that was drawn last
	law          splitLaw        // the weights of the splits without the scores
	i, j         int             // the two ingredients
	sum          int             // the joint amount of i and j
}

// A weightedCurve is the scorer of a property whose log score along a line is a known function,
// with the weight of the property.
type weightedCurve struct {
	CurveScorer
	weight float64
}

// A span is a range of the splits of a line, from ≤ k ≤ to. Over a span the law is constant, and so
// is the sum of the log scores without a [CurveScorer].
type span struct {
	from, to            int     // the first and the last split
	logMass, pieceScore float64 // log of the law's mass of a split; sum of the log scores without a CurveScorer
	scoreFrom, scoreTo  float64 // the log scores at the first and at the last split
	scoreBound          float64 // upper bound of the log scores of the splits
	mass                float64 // mass of the span in the envelope, in units of e^topLogWeight
	excessMass          float64 // estimate of mass minus the sum of the weights of the splits
}

const (
	targetSpans = 48  // number of spans up to which refineSpans cuts spans before the first draw
	maxSpans    = 256 // greatest number of spans; if more are needed, all splits are weighed
)

// scoreAt returns the log score Σ_k c_k·log y_k at split k. The argument pieces is the part of this
// sum over the properties without a [CurveScorer].
func (e *envelope) scoreAt(pieces float64, k int) float64 {
	for c := range e.curves {
		pieces += float64(e.curves[c].weight * e.curves[c].At(k))
	}
	return pieces
}

// upperBound returns an upper bound of the log scores at the splits from ≤ k ≤ to. It rounds
// products and sums in the same way as scoreAt, so rounding does not lower the bound below a score.
// The argument pieces is as in scoreAt.
func (e *envelope) upperBound(pieces float64, from, to int) float64 {
	for c := range e.curves {
		pieces += float64(e.curves[c].weight * e.curves[c].Above(from, to))
	}
	return pieces
}

// addSplits adds spans for the splits from ≤ k ≤ to, over which law and pieces are constant. The
// split omit gets a span of its own, and a span begins at each peak.
func (e *envelope) addSplits(from, to int, law, pieces float64, omit int) {
	if from > to || pieces == negInf {
		return
	}
	if from <= omit && omit <= to {
		e.addSplits(from, omit-1, law, pieces, -1)
		e.omittedSpan = len(e.spans)
		value := e.scoreAt(pieces, omit)
		e.spans = append(e.spans, span{from: omit, to: omit, logMass: law, pieceScore: pieces, scoreFrom: value, scoreTo: value, scoreBound: value})
		from = omit + 1
	}
	for _, peak := range e.peakSplits {
		if from < peak && peak <= to {
			e.addSplits(from, peak-1, law, pieces, -1)
			from = peak
		}
	}
	if from <= to {
		n := span{from: from, to: to, logMass: law, pieceScore: pieces, scoreFrom: e.scoreAt(pieces, from)}
		if n.scoreTo = n.scoreFrom; from < to {
			n.scoreTo = e.scoreAt(pieces, to)
		}
		if e.updateBound(&n); n.scoreBound > negInf || e.weighAll {
			e.spans = append(e.spans, n)
		}
	}
}

// updateBound computes the upper bound of a span whose ends have been scored.
func (e *envelope) updateBound(n *span) {
	n.scoreBound = max(n.scoreFrom, n.scoreTo)
	if n.to-n.from > 1 {
		n.scoreBound = max(n.scoreBound, e.upperBound(n.pieceScore, n.from, n.to))
	}
	if invalidScore(n.scoreBound) {
		e.weighAll = true // weighing all splits reports the invalid score, if it matters
	}
}

// logWeight returns the log weight of a split of span n that has the given log score.
func (e *envelope) logWeight(n *span, score float64) float64 {
	return n.logMass + float64(e.beta*score)
}

// findScale cuts the span with the highest bound until the log weight of some split is within 1 of
// the highest bound. The highest bound is then the unit for all masses.
func (e *envelope) findScale() {
	for {
		high, found := -1, negInf
		e.topLogWeight = negInf
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omittedSpan {
				continue
			}
			top := e.logWeight(n, n.scoreBound)
			if top > e.topLogWeight {
				high, e.topLogWeight = q, top
			}
			e.weighAll = e.weighAll || top == negInf && n.scoreBound > negInf // β·bound overflowed to −Inf
			found = max(found, e.logWeight(n, max(n.scoreFrom, n.scoreTo)))
		}
		switch {
		case e.weighAll:
			return
		case high < 0 && e.omittedSpan >= 0: // every split but the omitted one weighs 0
			e.topLogWeight = 0
			return
		case high < 0 || math.IsInf(e.topLogWeight, 1):
			e.weighAll = true
		case e.topLogWeight-found <= 1:
			return
		default:
			e.cutSpan(high, e.cutPoint(&e.spans[high]))
		}
	}
}

// refineSpans cuts spans until the envelope is close to the law of the line.
func (e *envelope) refineSpans() {
	for q := range e.spans {
		if q != e.omittedSpan {
			e.updateMass(q)
		}
	}
	for len(e.spans) < targetSpans && !e.weighAll {
		mass, loose, worst := 0.0, 0.0, -1
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omittedSpan {
				continue
			}
			mass += n.mass
			if loose += n.excessMass; n.from < n.to && (worst < 0 || n.excessMass > e.spans[worst].excessMass) {
				worst = q
			}
		}
		if worst < 0 || loose <= 2*mass/3 {
			return
		}
		e.cutSpan(worst, e.cutPoint(&e.spans[worst]))
		e.updateMass(worst)
		e.updateMass(len(e.spans) - 1)
	}
}

// updateMass computes the mass of span q and the estimate of its excess.
func (e *envelope) updateMass(q int) {
	n := &e.spans[q]
	splits := float64(n.to - n.from + 1)
	// The bound of the omitted split may be far above all others; no bound is that far below.
	n.mass = float64(splits * portable.Exp(min(e.logWeight(n, n.scoreBound)-e.topLogWeight, 700)))
	if n.excessMass = 0; n.from < n.to {
		fall := e.logWeight(n, n.scoreBound) - float64((e.logWeight(n, n.scoreFrom)+e.logWeight(n, n.scoreTo))/2)
		if n.excessMass = n.mass; fall <= math.MaxFloat64 {
			n.excessMass = float64(n.excessMass * (fall / (1 + fall)))
		}
	}
}

// cutPoint returns the split at which to cut a span: the last split of its first part. It is in the
// middle if both ends have about the same weight. Otherwise it is near the higher end, at a
// fraction 1/√D of the length, where D is the fall of the log weight over the span. Over that
// distance a parabola falls by 1, and a straight line by √D.
func (e *envelope) cutPoint(n *span) int {
	length := n.to - n.from
	fall := float64(e.beta * math.Abs(n.scoreFrom-n.scoreTo))
	if !(fall > 4 && fall <= math.MaxFloat64) || e.beta*(n.scoreBound-max(n.scoreFrom, n.scoreTo)) > 1 {
		return n.from + (length-1)/2
	}
	part := int(float64(length-1) / math.Sqrt(fall))
	if n.scoreFrom > n.scoreTo {
		return n.from + part
	}
	return n.to - 1 - part
}

// cutSpan divides span q in two. The old span keeps the splits up to last, and a new span with the
// other splits is appended.
func (e *envelope) cutSpan(q, last int) {
	if len(e.spans) == maxSpans {
		e.weighAll = true
		return
	}
	n := &e.spans[q]
	more := *n
	n.to, more.from = last, last+1
	if n.scoreTo = n.scoreFrom; n.from < n.to {
		n.scoreTo = e.scoreAt(n.pieceScore, n.to)
	}
	if more.scoreFrom = more.scoreTo; more.from < more.to {
		more.scoreFrom = e.scoreAt(n.pieceScore, more.from)
	}
	e.updateBound(n)
	e.updateBound(&more)
	e.spans = append(e.spans, more)
}

// drawSplit draws a split other than omit by the law of the line. It returns the split and its log
// weight. The result ok is false if no other split has weight. It is also false, and weighAll is
// set, if all splits must be weighed instead. This is always so with an oracle, which cannot decide
// rejections.
func (e *envelope) drawSplit(r *Rand, omit int) (k int, log float64, ok bool) {
	for !e.weighAll && r.oracle == nil {
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
			e.drawnScore = n.scoreFrom
			return n.from, e.logWeight(n, n.scoreFrom), true
		}
		if k = n.from + r.Intn(n.to-n.from+1); k == omit {
			e.isolateSplit(at, k)
			continue
		}
		e.drawnScore = e.scoreAt(n.pieceScore, k)
		if log = e.logWeight(n, e.drawnScore); r.Bernoulli(portable.Exp(log - e.logWeight(n, n.scoreBound))) {
			return k, log, true
		}
		e.cutSpan(at, min(k, n.to-1))
		e.updateMass(at)
		e.updateMass(len(e.spans) - 1)
	}
	e.weighAll = true
	return 0, 0, false
}

// isolateSplit cuts span q so that split k has a span of its own.
func (e *envelope) isolateSplit(q, k int) {
	if k > e.spans[q].from {
		e.cutSpan(q, k-1)
		e.updateMass(q)
		q = len(e.spans) - 1
	}
	if !e.weighAll && k < e.spans[q].to {
		e.cutSpan(q, k)
		e.updateMass(len(e.spans) - 1)
	}
	e.updateMass(q)
}

// logMass returns the log of the mass that the law gives split k of a line of sum s.
func (w *splitLaw) logMass(k, s int) float64 {
	switch k {
	case 0:
		return portable.Log(w.zeroWeight)
	case s:
		return portable.Log(w.fullWeight)
	}
	return portable.Log(w.innerWeight) + w.logShift
}

// bestInnerSplit returns the split with the highest log score between the ends of the line, if that
// score exceeds bar. Otherwise it returns split 0. It repeatedly cuts the span with the highest
// bound.
func (e *envelope) bestInnerSplit(bar float64) (split int, score float64) {
	for {
		score = bar
		high, top := -1, bar
		for q := range e.spans {
			n := &e.spans[q]
			if n.from == 0 || n.to == e.sum {
				continue
			}
			if n.scoreFrom > score {
				split, score = n.from, n.scoreFrom
			}
			if n.scoreTo > score {
				split, score = n.to, n.scoreTo
			}
			if n.from < n.to && n.scoreBound > top {
				high, top = q, n.scoreBound
			}
		}
		// Rounding may leave bounds slightly above the best score.
		if e.weighAll || high < 0 || e.beta*(top-score) < 1e-9 {
			return split, score
		}
		if e.cutSpan(high, e.cutPoint(&e.spans[high])); !e.weighAll {
			e.updateMass(high)
			e.updateMass(len(e.spans) - 1)
		}
	}
}
