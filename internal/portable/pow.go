package portable

import "math"

// Pow returns x to the power of y with an error of at most 0.52 units in the last place. For results below
// 2⁻¹⁰²² the error is at most 1.02 units. If the exact power is a floating-point number, such as the square of a
// small whole number, Pow returns the exact power. The special cases are those of [math.Pow].
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case math.IsInf(y, 0):
		switch {
		case x == -1:
			return 1
		case (math.Abs(x) < 1) == (y > 0):
			return 0
		}
		return math.Inf(1)
	case y == 1: // cases that formulas use often
		return x
	case y == 2:
		return float64(x * x)
	}
	whole, sign := math.Trunc(y) == y, 1.0
	if whole && math.Signbit(x) && math.Mod(y, 2) != 0 {
		sign = -1
	}
	switch {
	case x == 0 || math.IsInf(x, 0):
		if (x == 0) == (y > 0) {
			return math.Copysign(0, sign)
		}
		return math.Copysign(math.Inf(1), sign)
	case x < 0 && !whole:
		return math.NaN()
	}
	x = math.Abs(x)
	high, low := logAsSum(x)
	// A y beyond ±2⁷⁰ gives the result of ±2⁷⁰.
	y = max(-0x1p70, min(y, 0x1p70))
	product, rest := twoProduct(high, y)
	rest += float64(low * y)
	product, rest = quickTwoSum(product, rest)
	switch {
	case product > 710:
		return math.Copysign(math.Inf(1), sign)
	case product < -746:
		return math.Copysign(0, sign)
	}
	y, more, e := expAsSum(product, rest)
	return math.Copysign(ldexp(y+more, e), sign)
}
