package property

import (
	"math"

	"kir/internal/portable"
)

// A interval holds the numbers that something may be: those from lo to hi, which may be
// infinite, and whether it may be no number at all. Operations on spans hold whatever the
// same operations make, in floating point, of numbers in them.
type interval struct {
	lo, hi   float64
	mayBeNaN bool // it may be NaN
}

var anyNumber = interval{math.Inf(-1), math.Inf(1), true}

// intervalOf returns the span from the least to the greatest of numbers that are the extremes of
// something; anything if one of them is none, as infinity less infinity is.
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

// widen returns a span with room for functions that are rounded otherwise than to the
// nearest, and so may fall a little where they should rise.
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

// hull returns the span of what is in one of two.
func (s interval) hull(t interval) interval {
	return interval{min(s.lo, t.lo), max(s.hi, t.hi), s.mayBeNaN || t.mayBeNaN}
}

// intersect returns what is in a span and between two numbers. Where nothing is, as of two that
// hold the same but for rounding, it is what it was.
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

// modulo is between 0 and the numbers divided, and below those that divide.
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
	case s.lo > 0 || s.lo == 0 && t.lo > 0: // it rises or falls in each
	case whole && (n > 0 || s.hi < 0):
		if n > 0 && math.Mod(n, 2) == 0 && s.lo < 0 && s.hi > 0 {
			corners.lo = 0
		}
	default:
		return anyNumber
	}
	return corners.widen()
}

// applyRising returns what a function makes that does not fall.
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

// nonNegative leaves out the numbers below 0, of which logarithms and roots are none.
func (s interval) nonNegative() interval {
	return interval{max(s.lo, 0), max(s.hi, 0), s.mayBeNaN || s.lo < 0}
}

// A verdict on a truth says whether it may hold, and whether it may not.
type verdict struct{ mayHold, mayFail bool }

// interval is 1 for what holds, and 0.
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

// compare judges a comparison of what is in two spans.
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
	if s.mayBeNaN || t.mayBeNaN { // which equals nothing, and is neither less nor more
		v.mayFail = true
	}
	if operator == "!=" {
		v.mayHold, v.mayFail = v.mayFail, v.mayHold
	}
	return v
}
