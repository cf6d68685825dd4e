package portable

import "math"

// NormalQuantile returns the p-quantile of the standard normal distribution, by algorithm AS 241 (Wichura 1988,
// "The percentage points of the normal distribution"). The error is at most 5 units in the last place. The
// result is −∞ for p = 0, ∞ for p = 1, and NaN for p outside of 0..1.
func NormalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		return float64(q * polynomialRatioAscending(0.180625-float64(q*q), centralQuantileNumerator[:], centralQuantileDenominator[:]))
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	switch {
	case r == 0:
		return math.Copysign(math.Inf(1), q)
	case !(r > 0):
		return math.NaN()
	}
	r = math.Sqrt(-Log(r))
	var z float64
	if r <= 5 {
		z = polynomialRatioAscending(r-1.6, tailQuantileNumerator[:], tailQuantileDenominator[:])
	} else {
		z = polynomialRatioAscending(r-5, farQuantileNumerator[:], farQuantileDenominator[:])
	}
	return math.Copysign(z, q)
}

// polynomialRatioAscending returns the quotient of two polynomials in x, given by their coefficients from the
// lowest power to the highest. The constant coefficient of the denominator is 1 and is left out of the slice.
func polynomialRatioAscending(x float64, numerator, denominator []float64) float64 {
	p, q := 0.0, 0.0
	for k := len(numerator) - 1; k >= 0; k-- {
		p = float64(p*x) + numerator[k]
	}
	for k := len(denominator) - 1; k >= 0; k-- {
		q = float64((q + denominator[k]) * x)
	}
	return p / (q + 1)
}

var (
	centralQuantileNumerator   = [...]float64{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	centralQuantileDenominator = [...]float64{4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	tailQuantileNumerator      = [...]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	tailQuantileDenominator    = [...]float64{2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	farQuantileNumerator       = [...]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	farQuantileDenominator     = [...]float64{5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
