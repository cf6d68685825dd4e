package model

import "math"

// correlation returns κ and its derivative by d², given d².
func (k Kernel) correlation(square float64) (value, slope float64) {
	switch k {
	case Matern32:
		d := math.Sqrt(3 * square)
		e := exp(-d)
		return float64((1 + d) * e), float64(-1.5 * e)
	case SquaredExponential:
		e := exp(float64(-square / 2))
		return e, float64(-e / 2)
	}
	d := math.Sqrt(5 * square)
	e := exp(-d)
	return float64((1 + d + float64(5.0/3*square)) * e), float64(-5.0 / 6 * (1 + d) * e)
}

const (
	radialBits = 8  // the table has 2^radialBits steps for each unit of d²
	farthest   = 64 // d² from which on the table is 0: the correlation is below 2e-5 there
)

// A radial is a kernel as a table, piecewise linear in d². So it is the same function on every
// machine and takes no exponential.
type radial struct {
	steps [farthest<<radialBits + 1]struct{ value, slope float64 } // by step of d²: κ, and its slope per 2^−distanceBits
}

func newRadial(k Kernel) *radial {
	t := new(radial)
	const unit = 1 << (distanceBits - radialBits)
	last := len(t.steps) - 1
	for n := range last {
		t.steps[n].value, _ = k.correlation(float64(float64(n) / (1 << radialBits)))
	}
	for n := range last {
		t.steps[n].slope = float64((t.steps[n+1].value - t.steps[n].value) / unit)
	}
	return t
}

// at returns κ at a squared distance in units of 2^−distanceBits.
func (t *radial) at(square int64) float64 {
	const shift = distanceBits - radialBits
	n := uint64(square) >> shift
	if n >= uint64(len(t.steps)) {
		return 0
	}
	e := &t.steps[n]
	return e.value + float64(e.slope*float64(square&(1<<shift-1)))
}
