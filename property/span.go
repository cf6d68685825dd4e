package property

import (
	"math"

	"kir/internal/portable"
)

// A span holds the numbers that something may be: those from lo to hi, which may be
// infinite, and whether it may be no number at all. Operations on spans hold whatever the
// same operations make, in floating point, of numbers in them.
type span struct {
	lo, hi float64
	none   bool // it may be NaN
}

var anything = span{math.Inf(-1), math.Inf(1), true}

// over returns the span from the least to the greatest of numbers that are the extremes of
// something; anything if one of them is none, as infinity less infinity is.
func over(none bool, numbers ...float64) span {
	s := span{math.Inf(1), math.Inf(-1), none}
	for _, v := range numbers {
		if math.IsNaN(v) {
			return anything
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	return s
}

// wider returns a span with room for functions that are rounded otherwise than to the
// nearest, and so may fall a little where they should rise.
func (s span) wider() span {
	const part = 0x1p-48
	if !math.IsInf(s.lo, 0) {
		s.lo -= float64(math.Abs(s.lo)*part) + math.SmallestNonzeroFloat64
	}
	if !math.IsInf(s.hi, 0) {
		s.hi += float64(math.Abs(s.hi)*part) + math.SmallestNonzeroFloat64
	}
	return s
}

// both returns the span of what is in one of two.
func (s span) both(t span) span { return span{min(s.lo, t.lo), max(s.hi, t.hi), s.none || t.none} }

// within returns what is in a span and between two numbers. Where nothing is, as of two that
// hold the same but for rounding, it is what it was.
func (s span) within(lo, hi float64) span {
	if lo = max(lo, s.lo); lo <= min(hi, s.hi) {
		s.lo, s.hi = lo, min(hi, s.hi)
	}
	return s
}

func (s span) plus(t span) span { return over(s.none || t.none, s.lo+t.lo, s.hi+t.hi) }

func (s span) minus(t span) span { return over(s.none || t.none, s.lo-t.hi, s.hi-t.lo) }

func (s span) times(t span) span {
	return over(s.none || t.none, float64(s.lo*t.lo), float64(s.lo*t.hi), float64(s.hi*t.lo), float64(s.hi*t.hi))
}

func (s span) by(t span) span {
	if t.lo <= 0 && t.hi >= 0 {
		return anything
	}
	return over(s.none || t.none, s.lo/t.lo, s.lo/t.hi, s.hi/t.lo, s.hi/t.hi)
}

// modulo is between 0 and the numbers divided, and below those that divide.
func (s span) modulo(t span) span {
	none := s.none || t.none || t.lo <= 0 && t.hi >= 0 || math.IsInf(s.lo, 0) || math.IsInf(s.hi, 0)
	most := max(math.Abs(t.lo), math.Abs(t.hi))
	return span{max(min(s.lo, 0), -most), min(max(s.hi, 0), most), none}
}

func (s span) power(t span) span {
	corners := over(s.none || t.none, portable.Pow(s.lo, t.lo), portable.Pow(s.lo, t.hi), portable.Pow(s.hi, t.lo), portable.Pow(s.hi, t.hi))
	n := t.lo
	switch whole := n == t.hi && n == math.Trunc(n) && math.Abs(n) < 1<<52; {
	case s.none || t.none:
		return anything
	case s.lo > 0 || s.lo == 0 && t.lo > 0: // it rises or falls in each
	case whole && (n > 0 || s.hi < 0):
		if n > 0 && math.Mod(n, 2) == 0 && s.lo < 0 && s.hi > 0 {
			corners.lo = 0
		}
	default:
		return anything
	}
	return corners.wider()
}

// under returns what a function makes that does not fall.
func (s span) under(f func(float64) float64) span { return over(s.none, f(s.lo), f(s.hi)) }

func (s span) size() span {
	t := over(s.none, math.Abs(s.lo), math.Abs(s.hi))
	if s.lo <= 0 && s.hi >= 0 {
		t.lo = 0
	}
	return t
}

// positive leaves out the numbers below 0, of which logarithms and roots are none.
func (s span) positive() span {
	return span{max(s.lo, 0), max(s.hi, 0), s.none || s.lo < 0}
}

// A verdict on a truth says whether it may hold, and whether it may not.
type verdict struct{ yes, no bool }

// number is 1 for what holds, and 0.
func (v verdict) number() span {
	s := span{0, 1, false}
	if !v.yes {
		s.hi = 0
	}
	if !v.no {
		s.lo = 1
	}
	return s
}

// compare judges a comparison of what is in two spans.
func compare(operator string, s, t span) (v verdict) {
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
	if s.none || t.none { // which equals nothing, and is neither less nor more
		v.no = true
	}
	if operator == "!=" {
		v.yes, v.no = v.no, v.yes
	}
	return v
}
