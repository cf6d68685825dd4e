// Package portable computes functions of real numbers that have the same bits on every
// machine.
//
// Those of package math do not: Log, Exp and Hypot are assembly on some processors, most
// functions are on s390x, and what is written in Go is compiled with x·y + z as one
// operation, rounded once, where the processor has it (arm64, ppc64, riscv64, s390x, and
// amd64 from GOAMD64=v3 on). Here each product is rounded by a conversion before it is
// added, which the language promises to keep, and nothing is used of package math but what
// has one right answer: Sqrt, Floor, Frexp and their like.
//
// How far a function is from the truth is stated in ulps: units in the last place of the
// result. A test compares each with a reference of 200 bits and more.
package portable

import "math"

// twoSum returns a + b and what rounding took from it, exactly.
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	back := sum - a
	return sum, (a - (sum - back)) + (b - back)
}

// quickSum is twoSum where |a| ≥ |b| or a is 0.
func quickSum(a, b float64) (sum, rest float64) {
	sum = a + b
	return sum, b - (sum - a)
}

// split returns a number as a sum of two of at most 26 bits (Dekker 1971). It must be
// below 2⁹⁹⁶.
func split(a float64) (high, low float64) {
	c := float64((1<<27 + 1) * a)
	high = c - (c - a)
	return high, a - high
}

// twoProduct returns a·b and what rounding took from it: exactly, where neither
// overflows nor is near underflow.
func twoProduct(a, b float64) (product, rest float64) {
	product = float64(a * b)
	ah, al := split(a)
	bh, bl := split(b)
	rest = float64(ah*bh) - product
	rest += float64(ah * bl)
	rest += float64(al * bh)
	return product, rest + float64(al*bl)
}

// scale returns a·2^e, rounded once, for any e.
func scale(a float64, e int) float64 {
	const most = 1000
	for ; e > most; e -= most {
		a = float64(a * 0x1p1000)
	}
	if e < -1021 { // a·2^e may be subnormal; Ldexp rounds once
		return math.Ldexp(a, e)
	}
	return float64(a * math.Float64frombits(uint64(1023+e)<<52))
}
