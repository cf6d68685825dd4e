package portable

import "math"

// Logarithms follow Tang (1990, "Table-driven implementation of the logarithm function in
// IEEE floating-point arithmetic"): x = 2^k·z, 0.69 < z < 1.39, c is the nearest number to
// z with 7 bits behind the point, and
//
//	log x = k·ln 2 + log c + log(1 + r),  r = (z − c)/c,  |r| ≤ 2⁻⁸.
//
// centres has what is known of each c. One of them is 1, so that next to 1 nothing but r is
// left.

const (
	centreBits = 7
	centreUnit = 1 << (52 - centreBits)
	least      = 0x3fe6000000000000 // the bits of 0.6875, the least z
	ln2High    = 0x0.b17217f7d1cp0  // a multiple of 2⁻⁴², as centre.log is
	ln2Low     = math.Ln2 - ln2High
)

// A centre is a number c with 1/c and log c as sums of two numbers. The first summand of 1/c has 8 bits; that of log
// c is a multiple of 2⁻⁴².
type centre struct{ inverse, inverseRest, log, logRest float64 }

// Log returns the natural logarithm of x, to 0.52 ulp.
func Log(x float64) float64 {
	if bits := math.Float64bits(x); bits-1<<52 < 0x7ff<<52-1<<52 {
		high, low := logParts(bits, 0)
		return high + low
	}
	return logSpecial(x)
}

// logSpecial is Log for an x that is subnormal, 0, negative, infinite or NaN.
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

// logPartsOf is logParts of 0 < x < ∞.
func logPartsOf(x float64) (high, low float64) {
	if x < 0x1p-1022 {
		return logParts(math.Float64bits(x*0x1p60), -60)
	}
	return logParts(math.Float64bits(x), 0)
}

// logParts returns log(x·2^k) as a sum of two numbers, to 0.02 ulp of it, x being a
// positive normal number with these bits.
func logParts(bits uint64, k int64) (high, low float64) {
	near := bits + centreUnit/2 // rounds z to the nearest centre
	over := near - least
	e := over &^ (1<<52 - 1)
	n := float64(int64(over)>>52 + k)
	c := math.Float64frombits((near - e) &^ (centreUnit - 1))
	d := math.Float64frombits(bits-e) - c // exact
	of := &centres[over>>(52-centreBits)%(1<<centreBits)]
	r := float64(d * of.inverse) // exact
	rRest := float64(d * of.inverseRest)
	high, low = quickSum(float64(n*ln2High)+of.log, r)
	r += rRest
	square := float64(r * r)
	p := float64(square * (-1.0/2 + float64(r*(1.0/3)) + float64(square*(-1.0/4+float64(r*(1.0/5))+float64(square*(-1.0/6+float64(r*(1.0/7))-float64(square*(1.0/8))))))))
	return high, p + (low + (rRest + (of.logRest + float64(n*ln2Low))))
}

// Log1p returns log(1 + x) without loss where x is small, to 0.52 ulp.
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

// Log2 returns the binary logarithm of x, to 0.52 ulp: of a power of two, its exponent.
func Log2(x float64) float64 { return logTimes(x, inverseLn2, inverseLn2Rest) }

// Log10 returns the decimal logarithm of x, to 0.52 ulp: of a power of ten, its exponent.
func Log10(x float64) float64 { return logTimes(x, inverseLn10, inverseLn10Rest) }

// logTimes returns log x times a factor, a sum of two numbers.
func logTimes(x, factor, rest float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return logSpecial(x)
	}
	high, low := logPartsOf(x)
	product, productRest := twoProduct(high, factor)
	return product + (productRest + (float64(high*rest) + float64(low*factor)))
}

// logSum returns log x, 0 < x < ∞, as a sum of two numbers, to 2⁻⁷⁰ of itself.
func logSum(x float64) (high, low float64) {
	z, k := math.Frexp(x)
	if z < math.Sqrt2/2 {
		z, k = z+z, k-1
	}
	n := float64(k)
	if f := z - 1; math.Abs(f) < 0x1p-12 {
		// f − f²/2 + f³·(1/3 − ...), the first two as sums of two numbers.
		square, rest := twoProduct(f, f)
		third := float64(float64(square*f) * (1.0/3 - float64(f*(1.0/4)) + float64(square*(1.0/5-float64(f*(1.0/6))))))
		high, low = quickSum(f, float64(-square/2))
		low += third - float64(rest/2)
	} else {
		// From y next to log z: log z = y + log(1 + t), t = z·e⁻ʸ − 1, which is tiny.
		y := Log(z)
		back, backRest, e := expSum(-y, 0)
		product, rest := twoProduct(z, scale(back, e))
		t := (product - 1) + (rest + float64(z*scale(backRest, e)))
		high, low = quickSum(y, t-float64(float64(t*t)/2))
	}
	if k == 0 {
		return quickSum(high, low)
	}
	of, rest := twoSum(float64(n*ln2High), high)
	return quickSum(of, rest+(low+float64(n*ln2Low)))
}
