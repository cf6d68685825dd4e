package portable

import "math"

// Pow returns x to the power of y, to 0.52 ulp, below 2⁻¹⁰²² to 1.02. What has a right
// answer among floating-point numbers, as a square of a whole number, has that. The special
// cases are those of [math.Pow].
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y) // 0, 1, ±∞: nothing is computed
	}
	switch y { // what formulas have most
	case 1:
		return x
	case 2:
		return float64(x * x)
	case -1:
		return 1 / x
	}
	sign := 1.0
	if x < 0 {
		half, whole := y/2, math.Trunc(y)
		if whole != y {
			return math.NaN()
		}
		if math.Trunc(half) != half {
			sign = -1
		}
		x = -x
	}
	high, low := logSum(x)
	// No result that is left lies nearer to 1 or further from it.
	y = max(-0x1p70, min(y, 0x1p70))
	product, rest := twoProduct(high, y)
	rest += float64(low * y)
	product, rest = quickSum(product, rest)
	switch {
	case product > 710:
		return float64(sign * math.Inf(1))
	case product < -746:
		return float64(sign * 0)
	}
	y, more, e := expSum(product, rest)
	return float64(sign * scale(y+more, e))
}
