package property

import (
	"math"

	"kir/internal/portable"
)

// An interval contains the possible values of an expression: the numbers from lo to hi, which may
// be infinite, and NaN if mayBeNaN. The result of an operation on intervals contains the
// floating-point result of that operation on any of their numbers.
type interval struct {
	lo, hi   float64
	mayBeNaN bool // NaN is possible
}

var anyNumber = interval{math.Inf(-1), math.Inf(1), true}

// intervalOf returns the interval from the least to the greatest of the given extremes. It returns
// all numbers if one of them is NaN, as infinity less infinity is.
func intervalOf(none bool, numbers ...float64) interval {
	s := interval{math.Inf(1), math.Inf(-1), none}
	for _, v := range numbers {
		if math.IsNaN(v) {
			return anyNumber
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	return s
}

// widen returns a slightly larger interval, for functions that do not round to the nearest. Such a
// function may fall a little where it should rise.
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

// hull returns the smallest interval that contains both.
func (s interval) hull(t interval) interval {
	return interval{min(s.lo, t.lo), max(s.hi, t.hi), s.mayBeNaN || t.mayBeNaN}
}

// intersect returns the part of an interval between two numbers. If that is empty, which rounding
// can cause, it returns the interval unchanged.
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

// modulo returns an interval that contains a % b: the remainder lies between 0 and the dividend,
// and is less than the divisor in magnitude.
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
	case s.lo > 0 || s.lo == 0 && t.lo > 0: // the result is monotonic in each argument
	case whole && (n > 0 || s.hi < 0):
		if n > 0 && math.Mod(n, 2) == 0 && s.lo < 0 && s.hi > 0 {
			corners.lo = 0
		}
	default:
		return anyNumber
	}
	return corners.widen()
}

// applyRising applies a nondecreasing function.
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

// nonNegative drops the numbers below 0, whose logarithm or root is NaN.
func (s interval) nonNegative() interval {
	return interval{max(s.lo, 0), max(s.hi, 0), s.mayBeNaN || s.lo < 0}
}

// A verdict reports whether a truth may hold and whether it may fail.
type verdict struct{ mayHold, mayFail bool }

// interval returns the numbers that the truth may have: 1 where it holds, 0 where it fails.
func (v verdict) interval() interval {
	s := interval{0, 1, false}
	if !v.mayHold {
		s.hi = 0
	}
	if !v.mayFail {
		s.lo = 1
	}
	return s
}

// compare returns the verdict on a comparison of two intervals.
func compare(operator string, s, t interval) (v verdict) {
	switch operator {
	case ">", ">=":
		s, t = t, s
	}
	switch operator {
	case "<", ">":
		v = verdict{s.lo < t.hi, s.hi >= t.lo}
	case "<=", ">=":
		v = verdict{s.lo <= t.hi, s.hi > t.lo}
	default:
		v = verdict{s.lo <= t.hi && t.lo <= s.hi, s.lo != t.hi || s.hi != t.lo}
	}
	if s.mayBeNaN || t.mayBeNaN { // NaN equals nothing and is neither less nor more
		v.mayFail = true
	}
	if operator == "!=" {
		v.mayHold, v.mayFail = v.mayFail, v.mayHold
	}
	return v
}
