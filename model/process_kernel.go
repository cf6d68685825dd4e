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
	tableBits        = 8  // the table of a kernel has 2^tableBits steps for each unit of d²
	maxTableDistance = 64 // d² from which on the table is 0; the correlation is below 2e-5 there
)

// A kernelTable is a table of a kernel that is interpolated linearly in d². The interpolation is
// exactly the same on every machine and needs no exponential function.
type kernelTable struct {
	steps [maxTableDistance<<tableBits + 1]struct{ value, slope float64 } // by step of d²: κ at the start of the step, and its slope per 2^−distanceBits
}

// newKernelTable computes the table of a kernel.
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

// correlationAt returns κ, given the squared distance in units of 2^−distanceBits.
func (t *kernelTable) correlationAt(square int64) float64 {
	const shift = distanceBits - tableBits
	n := uint64(square) >> shift
	if n >= uint64(len(t.steps)) {
		return 0
	}
	e := &t.steps[n]
	return e.value + float64(e.slope*float64(square&(1<<shift-1)))
}
