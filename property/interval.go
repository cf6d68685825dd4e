package property

import (
	"math"

	"kir/internal/portable"
)

// An interval is a set of floating-point numbers, in which the value of an expression is known to lie. The set
// holds the numbers from lo to hi, which may be infinite, and also NaN if mayBeNaN is true. The result of an
// operation on intervals contains the floating-point results for all numbers of the operands.
type interval struct {
	lo, hi   float64
	mayBeNaN bool // whether the value can be NaN
}

// interval of all numbers, including NaN
var anyNumber = interval{math.Inf(-1), math.Inf(1), true}

// intervalOf returns the interval from the least to the greatest of the numbers, with the given mayBeNaN. If one of
// the numbers is NaN, such as infinity minus infinity, it returns the interval of all numbers and NaN.
func intervalOf(mayBeNaN bool, numbers ...float64) interval {
	s := interval{math.Inf(1), math.Inf(-1), mayBeNaN}
	for _, v := range numbers {
		if math.IsNaN(v) {
			return anyNumber
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	return s
}

// widen returns the interval, enlarged at both ends by a relative 2⁻⁴⁸. Bounds need this if they come from
// functions whose last bits may be wrong, so that the functions are not quite monotonic.
func (s interval) widen() interval {
	const part = 0x1p-48
	if !math.IsInf(s.lo, 0) {
		s.lo -= float64(math.Abs(s.lo)*part) + math.SmallestNonzeroFloat64
	}
	if !math.IsInf(s.hi, 0) {
		s.hi += float64(math.Abs(s.hi)*part) + math.SmallestNonzeroFloat64
	}
	return s
}

// hull returns the smallest interval that contains both s and t, where s is the receiver.
func (s interval) hull(t interval) interval {
	return interval{min(s.lo, t.lo), max(s.hi, t.hi), s.mayBeNaN || t.mayBeNaN}
}

// intersect returns the part of the interval between lo and hi. If rounding makes that part empty, it returns
// the whole interval.
func (s interval) intersect(lo, hi float64) interval {
	if lo = max(lo, s.lo); lo <= min(hi, s.hi) {
		s.lo, s.hi = lo, min(hi, s.hi)
	}
	return s
}

func (s interval) plus(t interval) interval {
	return intervalOf(s.mayBeNaN || t.mayBeNaN, s.lo+t.lo, s.hi+t.hi)
}

func (s interval) minus(t interval) interval {
	return intervalOf(s.mayBeNaN || t.mayBeNaN, s.lo-t.hi, s.hi-t.lo)
}

func (s interval) times(t interval) interval {
	return intervalOf(s.mayBeNaN || t.mayBeNaN, float64(s.lo*t.lo), float64(s.lo*t.hi), float64(s.hi*t.lo), float64(s.hi*t.hi))
}

func (s interval) dividedBy(t interval) interval {
	if t.lo <= 0 && t.hi >= 0 {
		return anyNumber
	}
	return intervalOf(s.mayBeNaN || t.mayBeNaN, s.lo/t.lo, s.lo/t.hi, s.hi/t.lo, s.hi/t.hi)
}

// modulo returns an interval that contains the remainder a % b for all numbers a of s and b of t, where s is
// the receiver. The remainder lies between 0 and a, and its magnitude is less than the magnitude of b.
func (s interval) modulo(t interval) interval {
	none := s.mayBeNaN || t.mayBeNaN || t.lo <= 0 && t.hi >= 0 || math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0)
	most := max(math.Abs(t.lo), math.Abs(t.hi))
	return interval{max(min(s.lo, 0), -most), min(max(s.hi, 0), most), none}
}

func (s interval) power(t interval) interval {
	corners := intervalOf(s.mayBeNaN || t.mayBeNaN, portable.Pow(s.lo, t.lo), portable.Pow(s.lo, t.hi), portable.Pow(s.hi, t.lo), portable.Pow(s.hi, t.hi))
	n := t.lo
	switch whole := n == t.hi && n == math.Trunc(n) && math.Abs(n) < 1<<52; {
	case s.mayBeNaN || t.mayBeNaN:
		return anyNumber
	case s.lo > 0 || s.lo == 0 && t.lo > 0: // each corner of the two intervals bounds the result, which is monotonic in both arguments
	case whole && (n > 0 || s.hi < 0):
		if n > 0 && math.Mod(n, 2) == 0 && s.lo < 0 && s.hi > 0 {
			corners.lo = 0
		}
	default:
		return anyNumber
	}
	return corners.widen()
}

// applyRising returns the interval of f(v) for all v in the interval. f must not decrease.
func (s interval) applyRising(f func(float64) float64) interval {
	return intervalOf(s.mayBeNaN, f(s.lo), f(s.hi))
}

func (s interval) abs() interval {
	t := intervalOf(s.mayBeNaN, math.Abs(s.lo), math.Abs(s.hi))
	if s.lo <= 0 && s.hi >= 0 {
		t.lo = 0
	}
	return t
}

// nonNegative replaces the negative numbers of an interval by NaN. The logarithm and the square root of the
// result can then be taken at its ends.
func (s interval) nonNegative() interval {
	return interval{max(s.lo, 0), max(s.hi, 0), s.mayBeNaN || s.lo < 0}
}

// A possibleTruth tells whether a condition, such as a < b, can be true and whether it can be false for some
// composition of a box.
type possibleTruth struct{ mayHold, mayFail bool }

// interval returns the interval of the condition as a number: 1 if true, 0 if false.
func (v possibleTruth) interval() interval {
	s := interval{0, 1, false}
	if !v.mayHold {
		s.hi = 0
	}
	if !v.mayFail {
		s.lo = 1
	}
	return s
}

// compareIntervals returns the possible results of "a operator b", such as a < b, for all numbers a in s and b
// in t.
func compareIntervals(operator string, s, t interval) (v possibleTruth) {
	switch operator {
	case ">", ">=":
		s, t = t, s
	}
	switch operator {
	case "<", ">":
		v = possibleTruth{s.lo < t.hi, s.hi >= t.lo}
	case "<=", ">=":
		v = possibleTruth{s.lo <= t.hi, s.hi > t.lo}
	default:
		v = possibleTruth{s.lo <= t.hi && t.lo <= s.hi, s.lo != t.hi || s.hi != t.lo}
	}
	if s.mayBeNaN || t.mayBeNaN { // NaN compares as unequal, and as neither less nor greater
		v.mayFail = true
	}
	if operator == "!=" {
		v.mayHold, v.mayFail = v.mayFail, v.mayHold
	}
	return v
}
