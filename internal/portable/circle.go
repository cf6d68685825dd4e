package portable

import "math"

// UnitRoot returns the point of the unit circle at the angle 2πk/n: cos 2πk/n and sin 2πk/n, each to 2 ulp. n must
// be positive and below 2⁵⁰.
func UnitRoot(k, n int) (cos, sin float64) {
	if k %= n; k < 0 {
		k += n
	}
	// Turn and mirror the angle into the first eighth of the circle.
	eighths := 8 * int64(k) / int64(n)
	quarters := (eighths + 1) / 2
	part := 4*int64(k) - quarters*int64(n) // in parts of 1/4n of the circle, from −n/2 to n/2
	x := float64(float64(part) / float64(n) * (math.Pi / 2))
	cos, sin = cosine(x), sine(x)
	switch quarters % 4 {
	case 1:
		cos, sin = -sin, cos
	case 2:
		cos, sin = -cos, -sin
	case 3:
		cos, sin = sin, -cos
	}
	return cos, sin
}

// sine returns sin x and cosine cos x by their power series, for |x| ≤ π/4.
func sine(x float64) float64 {
	y := float64(x * x)
	p := 0.0
	for _, c := range sines {
		p = float64((p + c) * y)
	}
	return x + float64(x*p)
}

func cosine(x float64) float64 {
	y := float64(x * x)
	p := 0.0
	for _, c := range cosines {
		p = float64((p + c) * y)
	}
	// high is 1 − y/2 rounded, and 1 − high − half the rounding error.
	half := float64(y / 2)
	high := 1 - half
	return high + (1 - high - half + float64(p*y))
}

// sines are ±1/k! for k = 17, 15, ..., 3, and cosines for k = 18, 16, ..., 4.
var (
	sines   = [...]float64{1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}
	cosines = [...]float64{-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24}
)
