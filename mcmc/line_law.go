package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A lineLaw is a distribution of the divisions of s units among two ingredients, up to a common
// factor. All divisions that give units to both ingredients have the same weight. The two divisions
// that give all units to one ingredient, the ends, have another weight.
type lineLaw struct {
	endSplitWeight          float64 // weight of each of the two ends
	innerSplitWeight        float64 // weight of each division that gives units to both ingredients
	bothEndsWeight          float64 // 2·endSplitWeight
	inverseInnerSplitWeight float64 // 1/innerSplitWeight, or 0 if innerSplitWeight is 0

	// logShift is log(innerSplitWeight/endSplitWeight) if this ratio is so extreme that the weights
	// times the scores might leave the range of a float64. Otherwise logShift is 0.
	logShift float64
}

// newLineLaw returns the distribution in which each of the two ends has the weight end, and each
// division that uses both ingredients the weight inner.
func newLineLaw(end, inner float64) lineLaw {
	w := lineLaw{endSplitWeight: end, innerSplitWeight: inner, bothEndsWeight: float64(2 * end)}
	if inner > 0 {
		w.inverseInnerSplitWeight = 1 / inner
	}
	return w
}

// minShiftRatio is the ratio between the two weights of a [lineLaw] from which the lineLaw has a
// logShift. If the ratio is smaller, weights that underflow are less than 10⁻²⁹⁰ of the greatest
// weight.
const minShiftRatio = 0x1p60

// newScaledLineLaw returns the distribution of the divisions of two ingredients' joint amount. At
// its ends n ingredients are used, and between the ends n+1. The weights are y(n)/|X_n| and
// y(n+1)/|X_{n+1}|, scaled so that the larger is 1. The arguments are y(n), y(n+1), |X_{n+1}|/|X_n|
// and the log of this ratio. A weight is 0 only if the y in it is 0.
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
	w := newLineLaw(max(end, minSizeProbability), max(inner, minSizeProbability))
	if !(1/minShiftRatio <= rel && rel <= minShiftRatio) {
		w.logShift = portable.Log(next) - portable.Log(y) - logRatio
	}
	return w
}

// scaledSplitLaw returns the distribution with its weights multiplied by factors: by zero for the
// split k = 0, by full for the split that gives all units to the first ingredient, and by inner for
// all others.
func (w *lineLaw) scaledSplitLaw(zero, full, inner float64) splitLaw {
	if w.logShift != 0 {
		return splitLaw{zero, full, inner, w.logShift}
	}
	return splitLaw{float64(w.endSplitWeight * zero), float64(w.endSplitWeight * full), float64(w.innerSplitWeight * inner), 0}
}

// splitWeights returns the weight of each division of s units: element k belongs to k units for the
// first ingredient.
func (w *lineLaw) splitWeights(s int) []float64 {
	weights := make([]float64, s+1)
	for k := range weights {
		weights[k] = w.innerSplitWeight
	}
	weights[0], weights[s] = w.endSplitWeight, w.endSplitWeight
	return weights
}

// drawSplit draws a division of s ≥ 1 units among two ingredients by the distribution w. It returns
// the units of the first ingredient.
func (r *Rand) drawSplit(w *lineLaw, s int) int {
	if r.oracle != nil {
		return r.oracle.Choose(w.splitWeights(s))
	}
	u := float64(float64(r.pcg.Uint64()>>11) * 0x1p-53 * (w.bothEndsWeight + float64(float64(s-1)*w.innerSplitWeight)))
	if u < w.bothEndsWeight {
		// The end is unpredictable, so the code avoids a branch: the bits of non-negative floats
		// have the same order as the floats.
		first := int(math.Float64bits(u)-math.Float64bits(w.endSplitWeight)) >> 63
		return s &^ first
	}
	// Rounding may carry u to the very end of the range. A split without weight must not be drawn
	// even then.
	k := 1 + int((u-w.bothEndsWeight)*w.inverseInnerSplitWeight)
	if k < s {
		return k
	}
	if s == 1 || w.innerSplitWeight == 0 {
		return s
	}
	return s - 1
}

// A splitLaw holds the weights of the splits k = 0..s, the divisions of the joint amount s of two
// ingredients, without the scores. The splits 0 and s use one ingredient less than the splits
// between, so the law of the number of ingredients gives them other weights.
type splitLaw struct {
	zeroSplitWeight  float64 // weight of the split k = 0
	fullSplitWeight  float64 // weight of the split k = s
	innerSplitWeight float64 // weight of each split between, divided by e^logShift
	logShift         float64 // 0, unless the ratio of the weights would leave the range of a float64
}
