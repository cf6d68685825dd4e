package portable

import "math"

// Exponentials follow Tang (1989, "Table-driven implementation of the exponential function in IEEE
// floating-point arithmetic"): with k = round(x·128/ln 2) = 128·e + j,
//
//	exp x = 2^e · 2^(j/128) · exp r,  |r| ≤ ln 2/256.
//
// The table powers has each 2^(j/128) as a sum of two numbers.

const (
	stepsPerDoubling = 128                         // number of powers 2^(j/128) in the table powers
	stepsPerUnit     = stepsPerDoubling / math.Ln2 // number of steps in 1: x·stepsPerUnit is x in steps of ln 2/128
	// The number ln 2/128 is stored as the sum stepHigh + stepMiddle + stepLow. The first two have so few bits
	// that their products with k are exact.
	stepHigh   = 0x1.62e42fefp-8
	stepMiddle = 0x0.00000000a39ef357p-8
	stepLow    = math.Ln2/stepsPerDoubling - stepHigh - stepMiddle
	// If integerRounder is added to a number and then subtracted again, the number is rounded to an integer.
	integerRounder = 0x1.8p52
)

// Exp returns eˣ with an error of at most 0.52 units in the last place. For results below 2⁻¹⁰²² the error is at
// most 1.02 units.
func Exp(x float64) float64 {
	if !(math.Abs(x) < 708) {
		return expSpecial(x)
	}
	y, e := expScaled(x)
	return math.Float64frombits(math.Float64bits(y) + uint64(e)<<52)
}

// expScaled returns eˣ as two numbers y and e with eˣ = y·2^e and 0.99 < y < 2, for |x| < 800.
func expScaled(x float64) (y float64, e int) {
	shifted := float64(x*stepsPerUnit) + integerRounder
	k := int(int32(math.Float64bits(shifted)))
	n := shifted - integerRounder
	r := x - float64(n*stepHigh) - float64(n*(stepMiddle+stepLow))
	return expStep(k, r)
}

// expStep returns 2^(k/128)·exp r as two numbers y and e whose value is y·2^e. The magnitude of r must be at most
// about ln 2/256.
func expStep(k int, r float64) (y float64, e int) {
	square := float64(r * r)
	p := r + float64(square*(0.5+float64(r*(1.0/6))+float64(square*(1.0/24+float64(r*(1.0/120))))))
	of := &powers[uint(k)%stepsPerDoubling]
	return of.high + (of.low + float64(of.high*p)), k >> 7
}

// expSpecial returns eˣ for an x whose result may be subnormal, 0, infinite or NaN.
func expSpecial(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return math.NaN()
	case x > 0x1.62e42fefa39efp+9: // ln 2¹⁰²⁴
		return math.Inf(1)
	case x < -0x1.74910d52d3052p+9: // ln 2⁻¹⁰⁷⁵
		return 0
	}
	y, e := expScaled(x)
	return ldexp(y, e)
}

// Exp2 returns 2ˣ with an error of at most 0.52 units in the last place. For results below 2⁻¹⁰²² the error is
// at most 1.02 units.
func Exp2(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return math.NaN()
	case x >= 1024:
		return math.Inf(1)
	case x < -1075:
		return 0
	}
	shifted := float64(x*stepsPerDoubling) + integerRounder
	k := int(int32(math.Float64bits(shifted)))
	r := x - float64((shifted-integerRounder)/stepsPerDoubling) // exact
	y, e := expStep(k, float64(r*math.Ln2))
	return ldexp(y, e)
}

// Expm1 returns eˣ − 1 without loss of precision for small x. The error is at most 0.51 units in the last place.
func Expm1(x float64) float64 {
	switch {
	case math.IsNaN(x) || x == 0:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -40:
		return -1
	case math.Abs(x) < 0x1p-40:
		return x + float64(float64(x*x)/2)
	}
	high, low, e := expAsSum(x, 0)
	if e > 100 {
		return ldexp(high+low, e)
	}
	high, low = ldexp(high, e), ldexp(low, e)
	sum, rest := twoSum(high, -1)
	return sum + (rest + low)
}

// expAsSum returns exp(x + more) as (high + low)·2^e, for |x| < 800 and |more| < 2⁻⁵²·|x|. Let x be k·ln 2/128 +
// r with a whole number k and |r| ≤ ln 2/256. If k is 0, the error is about 2⁻⁹⁰ of exp r − 1, so results near 1
// are especially exact.
func expAsSum(x, more float64) (high, low float64, e int) {
	shifted := float64(x*stepsPerUnit) + integerRounder
	k := int(int32(math.Float64bits(shifted)))
	n := shifted - integerRounder
	r, rest := twoSum(x-float64(n*stepHigh), -float64(n*stepMiddle))
	r, rest = quickTwoSum(r, rest+(more-float64(n*stepLow)))
	// exp r − 1 = r + r²/2 + r³·(1/6 + ...); the first two terms are sums of two numbers.
	square, squareRest := twoProduct(r, r)
	squareRest += float64(2 * r * rest)
	third := float64(float64(square*r) * (1.0/6 + float64(r*(1.0/24)) + float64(square*(1.0/120+float64(r*(1.0/720))+float64(square*(1.0/5040))))))
	p, pRest := quickTwoSum(r, float64(square/2))
	p, more = quickTwoSum(p, pRest+(rest+(float64(squareRest/2)+third)))
	of := &powers[uint(k)%stepsPerDoubling]
	if uint(k)%stepsPerDoubling == 0 { // the power is 1, and p may be small
		high, low = quickTwoSum(1, p)
		return high, low + more, k >> 7
	}
	product, productRest := twoProduct(of.high, p)
	high, low = quickTwoSum(of.high, product)
	low += of.low + (productRest + (float64(of.high*more) + float64(of.low*p)))
	high, low = quickTwoSum(high, low)
	return high, low, k >> 7
}
