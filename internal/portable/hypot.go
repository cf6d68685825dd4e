package portable

import "math"

// Hypot returns √(x² + y²) with an error of at most 1 unit in the last place, even if the squares overflow or
// underflow.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(x, 1) || math.IsInf(y, 1):
		return math.Inf(1)
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	_, e := math.Frexp(max(x, y))
	if e > 500 || e < -450 {
		return math.Ldexp(Hypot(math.Ldexp(x, -e), math.Ldexp(y, -e)), e)
	}
	return math.Sqrt(float64(x*x) + float64(y*y))
}
