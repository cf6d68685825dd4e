package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A lineLaw is a law of the splits 0..s of a line up to a common factor: the weight of each end and
// of each split between.
type lineLaw struct {
	end, inner float64
	ends       float64 // 2·end
	perInner   float64 // 1/inner, or 0 if that is 0

	// shift is log(inner/end) if that is so far from 0 that a score may have to make up for
	// weights beyond the range of a float64, else 0.
	shift float64
}

func newLineLaw(end, inner float64) lineLaw {
	w := lineLaw{end: end, inner: inner, ends: float64(2 * end)}
	if inner > 0 {
		w.perInner = 1 / inner
	}
	return w
}

// farApart is the ratio from which a lineLaw has a shift. The greatest weight of a line is then
// never below its inverse, and the weights lost to underflow are below 10⁻²⁹⁰ of it.
const farApart = 0x1p60

// lineLawOf returns y(n)/|X_n| for n and n+1, scaled so that the larger is 1. Its arguments are
// y(n), y(n+1), the ratio |X_{n+1}|/|X_n| and the log of that ratio. A weight is 0 only if y is 0.
func lineLawOf(y, next, ratio, logRatio float64) lineLaw {
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
	w := newLineLaw(max(end, minMass), max(inner, minMass))
	if !(1/farApart <= rel && rel <= farApart) {
		w.shift = portable.Log(next) - portable.Log(y) - logRatio
	}
	return w
}

// splits returns the law for lines with scores. The end k = 0 weighs zero times as much, the end k
// = s full times and each inner split inner times.
func (w *lineLaw) splits(zero, full, inner float64) splitLaw {
	if w.shift != 0 {
		return splitLaw{zero, full, inner, w.shift}
	}
	return splitLaw{float64(w.end * zero), float64(w.end * full), float64(w.inner * inner), 0}
}

// weights returns the weight of each split.
func (w *lineLaw) weights(s int) []float64 {
	weights := make([]float64, s+1)
	for k := range weights {
		weights[k] = w.inner
	}
	weights[0], weights[s] = w.end, w.end
	return weights
}

// split draws one of the splits 0..s of a line by its law, for s ≥ 1.
func (r *Rand) split(w *lineLaw, s int) int {
	if r.oracle != nil {
		return r.oracle.Choose(w.weights(s))
	}
	u := float64(float64(r.pcg.Uint64()>>11) * 0x1p-53 * (w.ends + float64(float64(s-1)*w.inner)))
	if u < w.ends {
		// The end is unpredictable, so the code avoids a branch: the bits of non-negative floats
		// have the same order as the floats.
		first := int(math.Float64bits(u)-math.Float64bits(w.end)) >> 63
		return s &^ first
	}
	// Rounding may carry u to the very end of the range. A split without weight must not be drawn
	// even then.
	k := 1 + int((u-w.ends)*w.perInner)
	if k < s {
		return k
	}
	if s == 1 || w.inner == 0 {
		return s
	}
	return s - 1
}

// A splitLaw has the weights of the splits k = 0..s of a line, without their scores: zero for k = 0,
// full for k = s, and inner·e^shift for each split between. The two ends use one ingredient less
// than the others, so the law of n weighs them differently. shift is 0, unless the ratio of these
// weights would exceed the range of a float64.
type splitLaw struct {
	zero, full, inner float64
	shift             float64
}
