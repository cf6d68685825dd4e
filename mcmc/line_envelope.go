package mcmc

import (
	"math"

	"kir/internal/portable"
)

// An envelope serves to draw a split, that is, a division of the joint amount of two ingredients.
// It uses rejection sampling, so it need not weigh all splits. It is a function of the splits that
// is nowhere below the weight of a split.
//
// The envelope divides the splits into spans, which are ranges of neighbouring splits. The mass of
// a span is its number of splits times an upper bound of their weights. Spans are cut until about
// half of the drawn splits are accepted, and a span is cut again whenever a split in it is
// rejected. Each try accepts split k with probability ∝ its weight w(k), whatever the spans and the
// earlier tries. So the accepted splits have the right distribution however loose the bounds are.
// (The method is that of Gilks and Wild, "Adaptive rejection sampling for Gibbs sampling", Applied
// Statistics 41 (1992), 337–348. The hull consists of steps, so the density need not be
// log-concave.) The sum of the weights is never computed.
//
// If a few hundred spans are not enough, all splits are weighed.
type envelope struct {
	spans              []span
	omittedSpan        int             // index of the span that consists of the omitted split, which is never drawn; −1 if no split is omitted
	topLogWeight       float64         // the greatest upper bound of the log weights, over all spans
	peakSplits         []int           // the splits at which the score of a property has its peak; a span begins at each
	curves             []weightedCurve // the scorers of properties that bound their scores over ranges of splits
	beta               float64         // the power to which the properties are raised
	mustWeighAllSplits bool            // whether draws must weigh all splits, because the spans are of no use
	drawnScore         float64         // log score of the split that was drawn last
	law                splitLaw        // the weights of the splits before multiplication by the scores
	i, j               int             // the indices of the two ingredients; split k gives k units to i and the rest to j
	jointAmount        int             // the joint amount of the ingredients i and j
}

// A weightedCurve is a [CurveScorer], which bounds the scores of a property over ranges of splits,
// together with the weight of the property.
type weightedCurve struct {
	CurveScorer
	weight float64
}

// A span is a range of neighbouring splits of an [envelope]. All splits of a span have the same
// weight before multiplication by the scores, and the same sum of log scores of the properties
// without a [CurveScorer].
type span struct {
	firstSplit      int     // the first split of the span
	lastSplit       int     // the last split of the span
	logSplitMass    float64 // log weight of each split before multiplication by the scores
	nonCurveScore   float64 // weighted sum of the log scores of the properties without a CurveScorer, at each split
	firstSplitScore float64 // log score of firstSplit
	lastSplitScore  float64 // log score of lastSplit
	scoreBound      float64 // upper bound of the log scores of all splits of the span
	mass            float64 // number of splits times the upper bound of their weights, in units of e^topLogWeight
	excessMass      float64 // estimate of mass minus the sum of the true weights of the splits
}

const (
	initialSpanLimit = 48  // number of spans up to which refineSpans cuts spans before the first draw
	maxSpans         = 256 // greatest number of spans; if more are needed, all splits are weighed
)

// scoreAt returns the log score Σ_k c_k·log y_k at split k. The argument nonCurveScore is the sum
// over the properties without a [CurveScorer].
func (e *envelope) scoreAt(nonCurveScore float64, k int) float64 {
	for c := range e.curves {
		nonCurveScore += float64(e.curves[c].weight * e.curves[c].ScoreAt(k))
	}
	return nonCurveScore
}

// upperBound returns an upper bound of the log scores at the splits from ≤ k ≤ to. It rounds
// products and sums in the same way as scoreAt, so rounding does not lower the bound below a score.
// The argument nonCurveScore is the sum over the properties without a [CurveScorer].
func (e *envelope) upperBound(nonCurveScore float64, from, to int) float64 {
	for c := range e.curves {
		nonCurveScore += float64(e.curves[c].weight * e.curves[c].UpperBound(from, to))
	}
	return nonCurveScore
}

// addSpans adds spans for the splits from ≤ k ≤ to. Each of these splits has the log weight
// logSplitMass before multiplication by the scores, and the log score nonCurveScore without the
// [CurveScorer]s. The split omit gets a span of its own, and a span begins at each split in
// peakSplits.
func (e *envelope) addSpans(from, to int, logSplitMass, nonCurveScore float64, omit int) {
	if from > to || nonCurveScore == negInf {
		return
	}
	if from <= omit && omit <= to {
		e.addSpans(from, omit-1, logSplitMass, nonCurveScore, -1)
		e.omittedSpan = len(e.spans)
		value := e.scoreAt(nonCurveScore, omit)
		e.spans = append(e.spans, span{firstSplit: omit, lastSplit: omit, logSplitMass: logSplitMass, nonCurveScore: nonCurveScore, firstSplitScore: value, lastSplitScore: value, scoreBound: value})
		from = omit + 1
	}
	for _, peak := range e.peakSplits {
		if from < peak && peak <= to {
			e.addSpans(from, peak-1, logSplitMass, nonCurveScore, -1)
			from = peak
		}
	}
	if from <= to {
		n := span{firstSplit: from, lastSplit: to, logSplitMass: logSplitMass, nonCurveScore: nonCurveScore, firstSplitScore: e.scoreAt(nonCurveScore, from)}
		if n.lastSplitScore = n.firstSplitScore; from < to {
			n.lastSplitScore = e.scoreAt(nonCurveScore, to)
		}
		if e.updateBound(&n); n.scoreBound > negInf || e.mustWeighAllSplits {
			e.spans = append(e.spans, n)
		}
	}
}

// updateBound computes the upper bound of the log scores of span n. The log scores of its first and
// its last split must be known.
func (e *envelope) updateBound(n *span) {
	n.scoreBound = max(n.firstSplitScore, n.lastSplitScore)
	if n.lastSplit-n.firstSplit > 1 {
		n.scoreBound = max(n.scoreBound, e.upperBound(n.nonCurveScore, n.firstSplit, n.lastSplit))
	}
	if isInvalidScore(n.scoreBound) {
		e.mustWeighAllSplits = true // weighing all splits reports the invalid score, if it matters
	}
}

// logWeight returns the log weight of a split in span n that has the given log score.
func (e *envelope) logWeight(n *span, score float64) float64 {
	return n.logSplitMass + float64(e.beta*score)
}

// tightenTopBound cuts the span with the highest bound, again and again. It stops when the log
// weight of some known split is within 1 of the highest bound. This bound is then the unit of all
// masses.
func (e *envelope) tightenTopBound() {
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
			e.mustWeighAllSplits = e.mustWeighAllSplits || top == negInf && n.scoreBound > negInf // β·bound overflowed to −Inf
			found = max(found, e.logWeight(n, max(n.firstSplitScore, n.lastSplitScore)))
		}
		switch {
		case e.mustWeighAllSplits:
			return
		case high < 0 && e.omittedSpan >= 0: // every split but the omitted one weighs 0
			e.topLogWeight = 0
			return
		case high < 0 || math.IsInf(e.topLogWeight, 1):
			e.mustWeighAllSplits = true
		case e.topLogWeight-found <= 1:
			return
		default:
			e.cutSpan(high, e.chooseCutSplit(&e.spans[high]))
		}
	}
}

// refineSpans cuts spans until the estimated excess of all spans is at most two thirds of their
// mass, or until there are initialSpanLimit spans.
func (e *envelope) refineSpans() {
	for q := range e.spans {
		if q != e.omittedSpan {
			e.updateMass(q)
		}
	}
	for len(e.spans) < initialSpanLimit && !e.mustWeighAllSplits {
		mass, loose, worst := 0.0, 0.0, -1
		for q := range e.spans {
			n := &e.spans[q]
			if q == e.omittedSpan {
				continue
			}
			mass += n.mass
			if loose += n.excessMass; n.firstSplit < n.lastSplit && (worst < 0 || n.excessMass > e.spans[worst].excessMass) {
				worst = q
			}
		}
		if worst < 0 || loose <= 2*mass/3 {
			return
		}
		e.cutSpan(worst, e.chooseCutSplit(&e.spans[worst]))
		e.updateMass(worst)
		e.updateMass(len(e.spans) - 1)
	}
}

// updateMass computes mass and excessMass of the span with index q.
func (e *envelope) updateMass(q int) {
	n := &e.spans[q]
	splits := float64(n.lastSplit - n.firstSplit + 1)
	// The bound of the omitted split may be far above all others; no bound is that far below.
	n.mass = float64(splits * portable.Exp(min(e.logWeight(n, n.scoreBound)-e.topLogWeight, 700)))
	if n.excessMass = 0; n.firstSplit < n.lastSplit {
		fall := e.logWeight(n, n.scoreBound) - float64((e.logWeight(n, n.firstSplitScore)+e.logWeight(n, n.lastSplitScore))/2)
		if n.excessMass = n.mass; fall <= math.MaxFloat64 {
			n.excessMass = float64(n.excessMass * (fall / (1 + fall)))
		}
	}
}

// chooseCutSplit returns the split after which span n is cut in two. It is in the middle if the
// first and the last split have about the same weight. Otherwise it is near the end with the higher
// weight, at a fraction 1/√D of the length, where D is the fall of the log weight over the span.
// Over that distance a parabola falls by 1, and a straight line by √D.
func (e *envelope) chooseCutSplit(n *span) int {
	length := n.lastSplit - n.firstSplit
	fall := float64(e.beta * math.Abs(n.firstSplitScore-n.lastSplitScore))
	if !(fall > 4 && fall <= math.MaxFloat64) || e.beta*(n.scoreBound-max(n.firstSplitScore, n.lastSplitScore)) > 1 {
		return n.firstSplit + (length-1)/2
	}
	part := int(float64(length-1) / math.Sqrt(fall))
	if n.firstSplitScore > n.lastSplitScore {
		return n.firstSplit + part
	}
	return n.lastSplit - 1 - part
}

// cutSpan divides the span with index q in two. The old span keeps the splits up to last. A new
// span with the later splits is appended.
func (e *envelope) cutSpan(q, last int) {
	if len(e.spans) == maxSpans {
		e.mustWeighAllSplits = true
		return
	}
	n := &e.spans[q]
	more := *n
	n.lastSplit, more.firstSplit = last, last+1
	if n.lastSplitScore = n.firstSplitScore; n.firstSplit < n.lastSplit {
		n.lastSplitScore = e.scoreAt(n.nonCurveScore, n.lastSplit)
	}
	if more.firstSplitScore = more.lastSplitScore; more.firstSplit < more.lastSplit {
		more.firstSplitScore = e.scoreAt(n.nonCurveScore, more.firstSplit)
	}
	e.updateBound(n)
	e.updateBound(&more)
	e.spans = append(e.spans, more)
}

// drawSplit draws a split other than omit, in proportion to the weights of the splits. It returns
// the split and its log weight. The result ok is false in two cases:
//
//   - No other split has weight.
//   - All splits must be weighed instead; mustWeighAllSplits is then set. An [Oracle] always causes
//     this, because it cannot decide rejections.
func (e *envelope) drawSplit(r *Rand, omit int) (k int, log float64, ok bool) {
	for !e.mustWeighAllSplits && r.oracle == nil {
		mass := 0.0
		for q := range e.spans {
			if n := &e.spans[q]; n.firstSplit < n.lastSplit || n.firstSplit != omit {
				mass += n.mass
			}
		}
		if mass == 0 {
			return 0, 0, false
		}
		at, u := -1, float64(r.float64()*mass)
		for q := range e.spans {
			n := &e.spans[q]
			if n.firstSplit == omit && n.lastSplit == omit || n.mass == 0 {
				continue
			}
			at = q
			if u < n.mass {
				break
			}
			u -= n.mass // rounding may carry it past the end
		}
		n := &e.spans[at]
		if n.firstSplit == n.lastSplit {
			e.drawnScore = n.firstSplitScore
			return n.firstSplit, e.logWeight(n, n.firstSplitScore), true
		}
		if k = n.firstSplit + r.Intn(n.lastSplit-n.firstSplit+1); k == omit {
			e.isolateSplit(at, k)
			continue
		}
		e.drawnScore = e.scoreAt(n.nonCurveScore, k)
		if log = e.logWeight(n, e.drawnScore); r.Bernoulli(portable.Exp(log - e.logWeight(n, n.scoreBound))) {
			return k, log, true
		}
		e.cutSpan(at, min(k, n.lastSplit-1))
		e.updateMass(at)
		e.updateMass(len(e.spans) - 1)
	}
	e.mustWeighAllSplits = true
	return 0, 0, false
}

// isolateSplit cuts the span with index q so that split k has a span of its own.
func (e *envelope) isolateSplit(q, k int) {
	if k > e.spans[q].firstSplit {
		e.cutSpan(q, k-1)
		e.updateMass(q)
		q = len(e.spans) - 1
	}
	if !e.mustWeighAllSplits && k < e.spans[q].lastSplit {
		e.cutSpan(q, k)
		e.updateMass(len(e.spans) - 1)
	}
	e.updateMass(q)
}

// logMass returns the log weight of split k of a joint amount s.
func (w *splitLaw) logMass(k, s int) float64 {
	switch k {
	case 0:
		return portable.Log(w.zeroSplitWeight)
	case s:
		return portable.Log(w.fullSplitWeight)
	}
	return portable.Log(w.innerSplitWeight) + w.logShift
}

// bestInnerSplit returns the split with the highest log score of all splits that give units to both
// ingredients, and this score. It returns split 0 if no such score exceeds scoreToBeat. It
// repeatedly cuts the span with the highest bound.
func (e *envelope) bestInnerSplit(scoreToBeat float64) (split int, score float64) {
	for {
		score = scoreToBeat
		high, top := -1, scoreToBeat
		for q := range e.spans {
			n := &e.spans[q]
			if n.firstSplit == 0 || n.lastSplit == e.jointAmount {
				continue
			}
			if n.firstSplitScore > score {
				split, score = n.firstSplit, n.firstSplitScore
			}
			if n.lastSplitScore > score {
				split, score = n.lastSplit, n.lastSplitScore
			}
			if n.firstSplit < n.lastSplit && n.scoreBound > top {
				high, top = q, n.scoreBound
			}
		}
		// Rounding may leave bounds slightly above the best score.
		if e.mustWeighAllSplits || high < 0 || e.beta*(top-score) < 1e-9 {
			return split, score
		}
		if e.cutSpan(high, e.chooseCutSplit(&e.spans[high])); !e.mustWeighAllSplits {
			e.updateMass(high)
			e.updateMass(len(e.spans) - 1)
		}
	}
}
