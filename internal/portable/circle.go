package portable

import "math"

// UnitRoot returns cos 2πk/n and sin 2πk/n, the point of the unit circle at the angle 2πk/n. The error of each
// is at most 2 units in the last place. The number n must be positive and below 2⁵⁰.
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

// sine returns sin x by the power series of the sine, for |x| ≤ π/4.
func sine(x float64) float64 {
	y := float64(x * x)
	p := 0.0
	for _, c := range sineCoefficients {
		p = float64((p + c) * y)
	}
	return x + float64(x*p)
}

// cosine returns cos x by the power series of the cosine, for |x| ≤ π/4.
func cosine(x float64) float64 {
	y := float64(x * x)
	p := 0.0
	for _, c := range cosineCoefficients {
		p = float64((p + c) * y)
	}
	// high is the rounded value of 1 − y/2, and 1 − high − half is the rounding error.
	half := float64(y / 2)
	high := 1 - half
	return high + (1 - high - half + float64(p*y))
}

// These variables hold the coefficients of power series: sineCoefficients are ±1/k! for k = 17, 15, ..., 3, and
// cosineCoefficients are ±1/k! for k = 18, 16, ..., 4.
var (
	sineCoefficients   = [...]float64{1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}        // coefficients of the series of sine
	cosineCoefficients = [...]float64{-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24} // coefficients of the series of cosine
)
