package property

import "math/bits"

// wide is a whole number of 128 bits, in two's complement.
type wide struct{ hi, lo uint64 }

// wideOf returns v.
func wideOf(v int64) wide { return wide{uint64(v >> 63), uint64(v)} }

// product returns a·b.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// As unsigned numbers negative ones are 2⁶⁴ too large.
	hi -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	return wide{hi, lo}
}

// plus returns w + v.
func (w wide) plus(v wide) wide {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	hi, _ := bits.Add64(w.hi, v.hi, carry)
	return wide{hi, lo}
}

// float returns w as a float, rounded to about 53 bits.
func (w wide) float() float64 {
	if int64(w.hi) < 0 {
		lo, carry := bits.Add64(^w.lo, 1, 0)
		return 0 - wide{^w.hi + carry, lo}.float()
	}
	return float64(float64(w.hi)*0x1p64) + float64(w.lo)
}
