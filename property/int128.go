package property

import "math/bits"

// int128 is a signed integer of 128 bits, in two's complement.
type int128 struct{ hi, lo uint64 }

// newInt128 returns v as an int128.
func newInt128(v int64) int128 { return int128{uint64(v >> 63), uint64(v)} }

// multiply128 returns the exact product a·b.
func multiply128(a, b int64) int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The unsigned product counts a negative factor as 2⁶⁴ too large, which these lines correct.
	hi -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	return int128{hi, lo}
}

// plus returns the sum of w and v, where w is the receiver.
func (w int128) plus(v int128) int128 {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	hi, _ := bits.Add64(w.hi, v.hi, carry)
	return int128{hi, lo}
}

// toFloat64 converts the number to a float64, with a relative error of about 2⁻⁵³.
func (w int128) toFloat64() float64 {
	if int64(w.hi) < 0 {
		lo, carry := bits.Add64(^w.lo, 1, 0)
		return 0 - int128{^w.hi + carry, lo}.toFloat64()
	}
	return float64(float64(w.hi)*0x1p64) + float64(w.lo)
}
