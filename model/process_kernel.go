package model

import "math"

// correlation returns the correlation κ at a squared distance d², and its derivative with respect
// to d².
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
	tableBits        = 8  // a [kernelTable] has 2^tableBits entries for each unit of the squared distance
	maxTableDistance = 64 // squared distance from which on a [kernelTable] is 0; correlations are below 2e-5 there
)

// A kernelTable is a table of the correlation κ of a [Kernel] at equally spaced squared distances.
// Between the entries, κ is interpolated linearly in the squared distance. The interpolation gives
// the same result on every machine and needs no exponential function.
type kernelTable struct {
	// steps[n] holds the correlation at the squared distance n/2^tableBits, and the slope of the
	// correlation up to the next entry, per 2^−distanceBits.
	steps [maxTableDistance<<tableBits + 1]struct{ value, slope float64 }
}

// newKernelTable computes the table of kernel k.
func newKernelTable(k Kernel) *kernelTable {
	t := new(kernelTable)
	const unit = 1 << (distanceBits - tableBits)
	last := len(t.steps) - 1
	for n := range last {
		t.steps[n].value, _ = k.correlation(float64(float64(n) / (1 << tableBits)))
	}
	for n := range last {
		t.steps[n].slope = float64((t.steps[n+1].value - t.steps[n].value) / unit)
	}
	return t
}

// correlationAt returns the correlation κ of two compositions, given their squared distance in
// units of 2^−distanceBits.
func (t *kernelTable) correlationAt(square int64) float64 {
	const shift = distanceBits - tableBits
	n := uint64(square) >> shift
	if n >= uint64(len(t.steps)) {
		return 0
	}
	e := &t.steps[n]
	return e.value + float64(e.slope*float64(square&(1<<shift-1)))
}
