// Package portable computes functions of real numbers whose results have the same bits on every machine.
//
// Functions of package math do not have the same bits everywhere. Log, Exp and Hypot are assembly on some
// processors, and most functions are assembly on s390x. Functions written in Go are compiled with x·y + z as one
// operation, rounded once, if the processor has such an operation (arm64, ppc64, riscv64, s390x, and amd64 from
// GOAMD64=v3 on). In package portable each product is rounded by a conversion before the product is added, which
// the language promises to keep. From package math, package portable uses only functions with one right answer,
// such as Sqrt, Floor and Frexp.
//
// The errors of functions are stated in ulps: units in the last place of the result. A test compares each
// function with a reference of at least 200 bits.
package portable

import "math"

// twoSum returns the rounded sum a + b and the exact rounding error: a + b equals sum + rest exactly.
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	back := sum - a
	return sum, (a - (sum - back)) + (b - back)
}

// quickTwoSum is twoSum for |a| ≥ |b| or a = 0.
func quickTwoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	return sum, b - (sum - a)
}

// splitBits returns a as the sum of two numbers of at most 26 bits each (Dekker 1971). The magnitude of a must
// be below 2⁹⁹⁶.
func splitBits(a float64) (high, low float64) {
	c := float64((1<<27 + 1) * a)
	high = c - (c - a)
	return high, a - high
}

// twoProduct returns the rounded product a·b and the rounding error. The rounding error is exact unless the
// product or the error overflows or is near underflow.
func twoProduct(a, b float64) (product, rest float64) {
	product = float64(a * b)
	ah, al := splitBits(a)
	bh, bl := splitBits(b)
	rest = float64(ah*bh) - product
	rest += float64(ah * bl)
	rest += float64(al * bh)
	return product, rest + float64(al*bl)
}

// ldexp returns a·2^e, rounded once, for any e.
func ldexp(a float64, e int) float64 {
	const most = 1000
	for ; e > most; e -= most {
		a = float64(a * 0x1p1000)
	}
	if e < -1021 { // a·2^e may be subnormal; Ldexp rounds once
		return math.Ldexp(a, e)
	}
	return float64(a * math.Float64frombits(uint64(1023+e)<<52))
}
