package condition

import (
	"math"
	"math/big"
)

// Factors and bounds of rules are decimal numbers. They are taken to as many
// decimals as fit sums of them into 62 bits, at most 9, so that whether a
// composition keeps a rule does not depend on the order in which it is summed.

// scaleOf returns the whole number, or its inverse, by which factors of at most top
// in size, and their bounds, are multiplied to make them whole: a power of ten.
func scaleOf(top float64, total int) float64 {
	scale := 1e9
	for scale > 1e-9 && top*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	return scale
}

// whole returns a decimal number in whole numbers of a scale.
func whole(v, scale float64) int64 { return int64(math.Round(v * scale)) }

// quotient returns the float nearest to a/(b·scale).
func quotient(a, b int64, scale float64) float64 {
	by := new(big.Rat).SetFloat64(scale)
	if scale < 1 {
		by.SetFrac64(1, int64(math.Round(1/scale)))
	}
	v, _ := new(big.Rat).Quo(big.NewRat(a, b), by).Float64()
	return v
}
