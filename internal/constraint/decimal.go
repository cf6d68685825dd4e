package constraint

import (
	"math"
	"math/big"
)

// Factors and bounds of rules are decimal numbers. They are rounded to at most 9 decimals, or to fewer if
// their sums would exceed 62 bits. So the order of summation cannot change whether a composition keeps a
// rule.

// scaleOf returns the power of ten that makes factors and bounds whole when they are multiplied by it. top is the
// greatest magnitude of a factor, and total the units of a composition. The power is below 1 if the factors are too
// large for 62 bits.
func scaleOf(top float64, total int) float64 {
	scale := 1e9
	for scale > 1e-9 && top*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	return scale
}

// whole returns v·scale, rounded to a whole number.
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
