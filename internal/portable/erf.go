package portable

import "math"

// Erfc returns 1 − erf x = 2/√π·∫ₓ^∞ exp(−t²) dt, by the rational functions of Cody (1969, "Rational Chebyshev
// approximations for the error function"). The error is at most 5 units in the last place.
func Erfc(x float64) float64 {
	y := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return math.NaN()
	case y <= 0.46875:
		return 1 - erfSmall(x)
	case y > 27.3 && x > 0:
		return 0
	case y > 6 && x < 0:
		return 2
	}
	var scaled float64 // exp(y²)·erfc y
	if y <= 4 {
		scaled = polynomialRatioDescending(y, erfcMiddleNumerator[:], erfcMiddleDenominator[:])
	} else {
		square := 1 / float64(y*y)
		scaled = (1/math.SqrtPi - float64(square*polynomialRatioDescending(square, erfcFarNumerator[:], erfcFarDenominator[:]))) / y
	}
	// exp(−y²) is exp(−h²)·exp(−(y−h)(y+h)). h is y with so few bits that the square of h is exact.
	h := float64(math.Trunc(y*16) / 16)
	tail := float64(Exp(-float64(h*h)) * Exp(-float64((y-h)*(y+h))))
	tail = float64(tail * scaled)
	if x < 0 {
		return 2 - tail
	}
	return tail
}

// erfSmall returns erf x for |x| ≤ 0.46875.
func erfSmall(x float64) float64 {
	square := float64(x * x)
	return float64(x * polynomialRatioDescending(square, erfSmallNumerator[:], erfSmallDenominator[:]))
}

// polynomialRatioDescending returns the quotient of two polynomials in x, given by their coefficients from the
// highest power to the lowest. The coefficient of the highest power of the denominator is 1 and is left out of
// the slice.
func polynomialRatioDescending(x float64, numerator, denominator []float64) float64 {
	p, q := 0.0, 1.0
	for _, c := range numerator {
		p = float64(p*x) + c
	}
	for _, c := range denominator {
		q = float64(q*x) + c
	}
	return p / q
}

var (
	erfSmallNumerator     = [...]float64{1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3} // for |x| ≤ 0.46875
	erfSmallDenominator   = [...]float64{2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3}
	erfcMiddleNumerator   = [...]float64{2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3} // for 0.46875 < x ≤ 4
	erfcMiddleDenominator = [...]float64{1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3}
	erfcFarNumerator      = [...]float64{1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4} // for x > 4
	erfcFarDenominator    = [...]float64{2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3}
)
