package constraint

import (
	"math"
	"math/big"
)

// Factors and bounds of rules are decimal numbers. Both are rounded to at most 9 decimals, or to fewer decimals
// if their sums would exceed 62 bits. So the order of summation cannot change whether a composition keeps a
// rule.

// decimalScale returns the power of ten by which the factors and bounds of a rule are multiplied before rounding to
// whole numbers. The parameter maxFactor is the greatest magnitude of a factor, and total is the number of units
// of a composition. The power is below 1 if the factors are too large for 62 bits.
func decimalScale(maxFactor float64, total int) float64 {
	scale := 1e9
	for scale > 1e-9 && maxFactor*scale*float64(total) > 1<<61 {
		scale /= 10
	}
	return scale
}

// roundToScale returns v·scale, rounded to a whole number.
func roundToScale(v, scale float64) int64 { return int64(math.Round(v * scale)) }

// nearestQuotient returns the float nearest to a/(b·scale).
func nearestQuotient(a, b int64, scale float64) float64 {
	by := new(big.Rat).SetFloat64(scale)
	if scale < 1 {
		by.SetFrac64(1, int64(math.Round(1/scale)))
	}
	v, _ := new(big.Rat).Quo(big.NewRat(a, b), by).Float64()
	return v
}
