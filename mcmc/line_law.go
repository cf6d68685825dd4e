package mcmc

import (
	"math"

	"kir/internal/portable"
)

// A lineLaw is a law of the splits 0..s of a line but for a common factor: the
// weight of either end and of a split between.
type lineLaw struct {
	end, inner float64
	ends       float64 // 2·end
	perInner   float64 // 1/inner, or 0 if that is 0

	// shift is log(inner/end) where that is so far from 0 that a score may have
	// to make up for what a float64 has no room for; else 0.
	shift float64
}

func newLineLaw(end, inner float64) lineLaw {
	w := lineLaw{end: end, inner: inner, ends: float64(2 * end)}
	if inner > 0 {
		w.perInner = 1 / inner
	}
	return w
}

// farApart is when a lineLaw has a shift. The greatest weight of a line is then
// never below its inverse, and what is lost beside it below 10⁻²⁹⁰ of it.
const farApart = 0x1p60

// lineLawOf returns y(n)/|X_n| for n and n+1, scaled so that the larger is 1,
// from y(n), y(n+1), the ratio |X_{n+1}|/|X_n| and its logarithm. Only what is 0
// has weight 0.
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

// splits returns the law for lines with scores, where the ends weigh zero and
// full times as much, and what lies between inner times.
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
		// Nothing is known of which end it is, so there is no branch: the bits
		// of floats that are not negative are ordered as the floats.
		first := int(math.Float64bits(u)-math.Float64bits(w.end)) >> 63
		return s &^ first
	}
	// Rounding may carry u to the very end of the range; what has no weight
	// must not come out of that.
	k := 1 + int((u-w.ends)*w.perInner)
	if k < s {
		return k
	}
	if s == 1 || w.inner == 0 {
		return s
	}
	return s - 1
}

// A splitLaw is what the splits of a line of (i, j) weigh before their scores do:
// the ends k = 0 and k = s, which use one ingredient less, and each between. The
// weight of those between is inner·e^shift, where the two sizes lie further apart
// than the exponent of a float64 goes; else shift is 0.
type splitLaw struct {
	zero, full, inner float64
	shift             float64
}
