package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A lineLaw is a law of the divisions of s units among two ingredients, up to a common factor. All
// divisions that give units to both ingredients have the same weight. The two divisions that give
// all units to one ingredient, the ends, have another weight.
type lineLaw struct {
	endWeight, innerWeight float64 // weight of each end; weight of each split between
	bothEndsWeight         float64 // 2·endWeight
	inverseInner           float64 // 1/innerWeight, or 0 if innerWeight is 0

	// logShift is log(innerWeight/endWeight), if that ratio is so extreme that the weights times
	// the scores might leave the range of a float64. Otherwise logShift is 0.
	logShift float64
}

// newLineLaw returns the law with the given weight of each end and of each split between.
func newLineLaw(end, inner float64) lineLaw {
	w := lineLaw{endWeight: end, innerWeight: inner, bothEndsWeight: float64(2 * end)}
	if inner > 0 {
		w.inverseInner = 1 / inner
	}
	return w
}

// shiftRatio is the ratio between the weights of a lineLaw from which the law has a logShift. Below
// it, the weights that a line loses to underflow are less than 10⁻²⁹⁰ of its greatest weight.
const shiftRatio = 0x1p60

// newScaledLineLaw returns the law of the splits of a line with n used ingredients at its ends and n+1
// between. The weights are y(n)/|X_n| and y(n+1)/|X_{n+1}|, scaled so that the larger is 1. The
// arguments are y(n), y(n+1), |X_{n+1}|/|X_n| and the log of this ratio. A weight is 0 only if y is
// 0 there.
func newScaledLineLaw(y, next, ratio, logRatio float64) lineLaw {
	switch {
	case y > 0 && (next == 0 || logRatio == negInf):
		return newLineLaw(1, 0)
	case y == 0 && next > 0:
		return newLineLaw(0, 1)
	case y == 0:
		return newLineLaw(0, 0)
	}
	rel := next / y / ratio
	end, inner := 1.0, rel
	if rel > 1 {
		end, inner = 1/rel, 1
	}
	w := newLineLaw(max(end, minProbability), max(inner, minProbability))
	if !(1/shiftRatio <= rel && rel <= shiftRatio) {
		w.logShift = portable.Log(next) - portable.Log(y) - logRatio
	}
	return w
}

// scaledSplitLaw returns the law with its weights multiplied by factors: by zero at the end k = 0,
// by full at the end k = s, and by inner at each split between.
func (w *lineLaw) scaledSplitLaw(zero, full, inner float64) splitLaw {
	if w.logShift != 0 {
		return splitLaw{zero, full, inner, w.logShift}
	}
	return splitLaw{float64(w.endWeight * zero), float64(w.endWeight * full), float64(w.innerWeight * inner), 0}
}

// splitWeights returns the weight of each split 0..s.
func (w *lineLaw) splitWeights(s int) []float64 {
	weights := make([]float64, s+1)
	for k := range weights {
		weights[k] = w.innerWeight
	}
	weights[0], weights[s] = w.endWeight, w.endWeight
	return weights
}

// drawSplit draws one of the splits 0..s of a line by the law w. The sum s must be at least 1.
func (r *Rand) drawSplit(w *lineLaw, s int) int {
	if r.oracle != nil {
		return r.oracle.Choose(w.splitWeights(s))
	}
	u := float64(float64(r.pcg.Uint64()>>11) * 0x1p-53 * (w.bothEndsWeight + float64(float64(s-1)*w.innerWeight)))
	if u < w.bothEndsWeight {
		// The end is unpredictable, so the code avoids a branch: the bits of non-negative floats
		// have the same order as the floats.
		first := int(math.Float64bits(u)-math.Float64bits(w.endWeight)) >> 63
		return s &^ first
	}
	// Rounding may carry u to the very end of the range. A split without weight must not be drawn
	// even then.
	k := 1 + int((u-w.bothEndsWeight)*w.inverseInner)
	if k < s {
		return k
	}
	if s == 1 || w.innerWeight == 0 {
		return s
	}
	return s - 1
}

// A splitLaw holds the weights of the splits k = 0..s of a line, without the scores: zeroWeight for
// k = 0, fullWeight for k = s, and innerWeight·e^logShift for each split between. The ends use one
// ingredient less than the splits between, so the law of n gives them other weights. logShift is 0,
// unless the ratio of these weights would leave the range of a float64.
type splitLaw struct {
	zeroWeight, fullWeight, innerWeight float64
	logShift                            float64
}
