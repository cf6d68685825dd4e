package portable

import "math"

// LogGamma returns log Γ(x) for x > 0, with an error of at most 10⁻¹⁴ + 2⁻⁵⁰·x·|log x|. For x ≥ 12 LogGamma uses
// Stirling's series with seven terms (Abramowitz and Stegun 6.1.41). Smaller x are reduced to x ≥ 12 by Γ(x) =
// Γ(x+1)/x.
func LogGamma(x float64) float64 {
	switch {
	case !(x > 0):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	case x == 1 || x == 2:
		return 0
	}
	below := 1.0
	for x < 12 {
		below = float64(below * x)
		x++
	}
	y := 1 / float64(x*x)
	series := 0.0
	for _, c := range stirlingCoefficients {
		series = float64((series + c) * y)
	}
	rest := (series + 1.0/12) / x
	return float64((x-0.5)*Log(x)) - x + halfLog2Pi + rest - Log(below)
}

// stirlingCoefficients are the coefficients B₂ₖ/(2k·(2k−1)) of Stirling's series for k = 7, 6, ..., 2, where B₂ₖ
// are the Bernoulli numbers.
var stirlingCoefficients = [...]float64{1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360}

// ½·log 2π
const halfLog2Pi = 0.918938533204672741780329736405617639861397473637783412817151540482765695927260397694743298635954197622

// BetaCDF returns the probability that a variable with the distribution Beta(a, b) is below x. This is the
// regularised incomplete beta function Iₓ(a, b), computed by its continued fraction (NIST Digital Library of
// Mathematical Functions 8.17.22, evaluated by Lentz's method). The parameters a and b must be positive. The
// relative error is about 10⁻¹³ for a and b up to 1,000. For larger a and b the error grows like the error of log
// Γ.
func BetaCDF(a, b, x float64) float64 {
	switch {
	case math.IsNaN(x):
		return math.NaN()
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaBelowMean(b, a, 1-x, betaDensity(a, b, x))
	}
	return betaBelowMean(a, b, x, betaDensity(a, b, x))
}

// betaDensity returns xᵃ·(1−x)ᵇ/B(a, b), which is x·(1−x) times the density of Beta(a, b).
func betaDensity(a, b, x float64) float64 {
	return Exp(LogGamma(a+b) - LogGamma(a) - LogGamma(b) + float64(a*Log(x)) + float64(b*Log1p(-x)))
}

// betaBelowMean returns BetaCDF(a, b, x) for an x that is at most about the mean of the distribution. The
// parameter density is the result of betaDensity at x.
func betaBelowMean(a, b, x, density float64) float64 {
	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-float64((a+b)*x/(a+1)))
	h := d
	for m := 1.0; m < 100_000; m++ {
		twice := a + float64(2*m)
		even := float64(m*(b-m)*x) / float64((twice-1)*twice)
		d = 1 / away(1+float64(even*d))
		c = away(1 + even/c)
		h = float64(h * float64(c*d))
		odd := -float64((a+m)*(a+b+m)*x) / float64(twice*(twice+1))
		d = 1 / away(1+float64(odd*d))
		c = away(1 + odd/c)
		step := float64(c * d)
		h = float64(h * step)
		if math.Abs(step-1) < 0x1p-52 {
			break
		}
	}
	return float64(density*h) / a
}

// BetaQuantile returns the p-quantile of the distribution Beta(a, b).
func BetaQuantile(a, b, p float64) float64 {
	switch {
	case !(a > 0 && b > 0 && p >= 0 && p <= 1):
		return math.NaN()
	case p == 0 || p == 1:
		return p
	}
	low, high := 0.0, 1.0
	x := a / (a + b)
	for range 200 {
		off := BetaCDF(a, b, x) - p
		if off > 0 {
			high = x
		} else {
			low = x
		}
		next := x - float64(off*x)*(1-x)/betaDensity(a, b, x) // Newton's step, unless the step leaves the bracket
		if !(next > low && next < high) {
			next = low + float64((high-low)/2)
		}
		if math.Abs(next-x) <= float64(0x1p-52*x) {
			return next
		}
		x = next
	}
	return x
}

// StudentQuantile returns the p-quantile of Student's t distribution with the given number of degrees of freedom.
func StudentQuantile(degreesOfFreedom, p float64) float64 {
	tail := min(p, 1-p)
	x := BetaQuantile(float64(degreesOfFreedom/2), 0.5, float64(2*tail)) // the Beta variable freedom/(freedom + t²)
	return math.Copysign(math.Sqrt(float64(degreesOfFreedom*(1-x))/x), p-0.5)
}

// StudentTail returns the probability that a variable with Student's t distribution exceeds t, given the number
// of degrees of freedom.
func StudentTail(degreesOfFreedom, t float64) float64 {
	tail := float64(BetaCDF(float64(degreesOfFreedom/2), 0.5, degreesOfFreedom/(degreesOfFreedom+float64(t*t))) / 2)
	if t < 0 {
		return 1 - tail
	}
	return tail
}
