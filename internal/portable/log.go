package portable

import "math"

// Logarithms follow Tang (1990, "Table-driven implementation of the logarithm function in IEEE floating-point
// arithmetic"): x = 2^k·z with 0.69 < z < 1.39, c is the number nearest to z that has 7 bits behind the point,
// and
//
//	log x = k·ln 2 + log c + log(1 + r),  r = (z − c)/c,  |r| ≤ 2⁻⁸.
//
// The table centres has 1/c and log c for each c. One of the centres is 1, so that for x near 1 only r is left.

const (
	centreBits = 7                      // number of bits of a centre behind the leading bit
	centreUnit = 1 << (52 - centreBits) // distance of neighbouring centres, as a difference of the bits of their float64
	leastZBits = 0x3fe6000000000000     // bits of the float64 0.6875, the least value of z
	ln2High    = 0x0.b17217f7d1cp0      // ln 2 rounded to a multiple of 2⁻⁴², so that sums with log c are exact
	ln2Low     = math.Ln2 - ln2High     // ln 2 − ln2High
)

// A centre is a number c for which 1/c and log c are stored, each as a sum of two numbers: inverse + inverseRest
// and log + logRest. The field inverse has 8 bits, and the field log is a multiple of 2⁻⁴².
type centre struct{ inverse, inverseRest, log, logRest float64 }

// Log returns the natural logarithm of x with an error of at most 0.52 units in the last place.
func Log(x float64) float64 {
	if bits := math.Float64bits(x); bits-1<<52 < 0x7ff<<52-1<<52 {
		high, low := logParts(bits, 0)
		return high + low
	}
	return logSpecial(x)
}

// logSpecial returns the natural logarithm of an x that is subnormal, 0, negative, infinite or NaN.
func logSpecial(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0 || math.IsNaN(x):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	}
	high, low := logPartsOf(x)
	return high + low
}

// logPartsOf returns log x as the sum high + low, for 0 < x < ∞.
func logPartsOf(x float64) (high, low float64) {
	if x < 0x1p-1022 {
		return logParts(math.Float64bits(x*0x1p60), -60)
	}
	return logParts(math.Float64bits(x), 0)
}

// logParts returns log(x·2^k) as the sum high + low, where x is the positive normal float64 with the given bits.
// The error is 0.02 units in the last place of the logarithm.
func logParts(bits uint64, k int64) (high, low float64) {
	near := bits + centreUnit/2 // rounds z to the nearest centre
	over := near - leastZBits
	e := over &^ (1<<52 - 1)
	n := float64(int64(over)>>52 + k)
	c := math.Float64frombits((near - e) &^ (centreUnit - 1))
	d := math.Float64frombits(bits-e) - c // exact
	of := &centres[over>>(52-centreBits)%(1<<centreBits)]
	r := float64(d * of.inverse) // exact
	rRest := float64(d * of.inverseRest)
	high, low = quickTwoSum(float64(n*ln2High)+of.log, r)
	r += rRest
	square := float64(r * r)
	p := float64(square * (-1.0/2 + float64(r*(1.0/3)) + float64(square*(-1.0/4+float64(r*(1.0/5))+float64(square*(-1.0/6+float64(r*(1.0/7))-float64(square*(1.0/8))))))))
	return high, p + (low + (rRest + (of.logRest + float64(n*ln2Low))))
}

// Log1p returns log(1 + x) without loss of precision for small x. The error is at most 0.52 units in the last
// place.
func Log1p(x float64) float64 {
	switch {
	case math.IsNaN(x) || x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case x == 0 || math.IsInf(x, 1):
		return x
	case math.Abs(x) < 0x1p-40:
		return x - float64(float64(x*x)/2)
	}
	sum, rest := twoSum(1, x)
	high, low := logPartsOf(sum)
	return high + (low + rest/sum)
}

// Log2 returns the binary logarithm of x with an error of at most 0.52 units in the last place. For a power of
// two the result is exactly the exponent.
func Log2(x float64) float64 { return logTimesFactor(x, inverseLn2, inverseLn2Rest) }

// Log10 returns the decimal logarithm of x with an error of at most 0.52 units in the last place. For a power of
// ten the result is exactly the exponent.
func Log10(x float64) float64 { return logTimesFactor(x, inverseLn10, inverseLn10Rest) }

// logTimesFactor returns log(x)·(factor + rest), where rest is much smaller than factor.
func logTimesFactor(x, factor, rest float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return logSpecial(x)
	}
	high, low := logPartsOf(x)
	product, productRest := twoProduct(high, factor)
	return product + (productRest + (float64(high*rest) + float64(low*factor)))
}

// logAsSum returns log x as the sum high + low, for 0 < x < ∞, to a relative error of 2⁻⁷⁰.
func logAsSum(x float64) (high, low float64) {
	z, k := math.Frexp(x)
	if z < math.Sqrt2/2 {
		z, k = z+z, k-1
	}
	n := float64(k)
	if f := z - 1; math.Abs(f) < 0x1p-12 {
		// log z = f − f²/2 + f³·(1/3 − ...); the first two terms are sums of two numbers.
		square, rest := twoProduct(f, f)
		third := float64(float64(square*f) * (1.0/3 - float64(f*(1.0/4)) + float64(square*(1.0/5-float64(f*(1.0/6))))))
		high, low = quickTwoSum(f, float64(-square/2))
		low += third - float64(rest/2)
	} else {
		// Let y be near log z. Then log z = y + log(1 + t), where t = z·e⁻ʸ − 1 is tiny.
		y := Log(z)
		back, backRest, e := expAsSum(-y, 0)
		product, rest := twoProduct(z, ldexp(back, e))
		t := (product - 1) + (rest + float64(z*ldexp(backRest, e)))
		high, low = quickTwoSum(y, t-float64(float64(t*t)/2))
	}
	if k == 0 {
		return quickTwoSum(high, low)
	}
	of, rest := twoSum(float64(n*ln2High), high)
	return quickTwoSum(of, rest+(low+float64(n*ln2Low)))
}
