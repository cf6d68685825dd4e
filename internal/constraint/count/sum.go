package count

import (
	"fmt"
	"math"
)

// A Sum bounds Σ_i (a_i·x_i + u_i·[x_i > 0]) over a composition x, in whole
// numbers: Min ≤ sum ≤ Max. Limits are sums of amounts, "i needs one of J" is
// [x_i > 0] − Σ_{j∈J} [x_j > 0] ≤ 0.
type Sum struct {
	Terms    []Term
	Min, Max int64 // math.MinInt64 and math.MaxInt64 where there is no bound
}

// A Term is the contribution of one ingredient to a sum.
type Term struct {
	Ingredient     int
	PerUnit, Whole int64 // a_i and u_i
}

// span bounds the values of a sum. A missing bound is the least or greatest number that fits.
type span struct{ lo, hi int64 }

// maxSum bounds what terms can add up to. Sums of a few such numbers fit in an int64.
const maxSum = 1 << 58

// value returns the sum of a composition.
func (s *Sum) value(amount []int) int64 {
	v := int64(0)
	for _, t := range s.Terms {
		if x := amount[t.Ingredient]; x > 0 {
			v += t.PerUnit*int64(x) + t.Whole
		}
	}
	return v
}

// validateSums returns an [ErrInvalid] for sums of missing ingredients, and a [SizeError] for sums
// that could exceed the range of int64.
func (s Space) validateSums() error {
	for k, sum := range s.Sums {
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return fmt.Errorf("%w: sum %d has a term of ingredient %d and ingredients go from 0 to %d", ErrInvalid, k, t.Ingredient, len(s.Ingredients)-1)
			}
			per, whole := math.Abs(float64(t.PerUnit)), math.Abs(float64(t.Whole))
			if need := float64(per*float64(s.Total)) + float64(whole*float64(min(s.Total, len(s.Ingredients)))); need > maxSum/4 {
				return &SizeError{need, maxSum / 4, "values of a sum"}
			}
		}
	}
	return nil
}

// Sums returns a group's limits as sums: of its units, and of its used members.
func (g *Group) Sums() (sums []Sum) {
	add := func(r *Range, t Term) {
		if r == nil {
			return
		}
		s := Sum{Min: int64(r.Min), Max: int64(r.Max)}
		for _, i := range g.Members {
			t.Ingredient = i
			s.Terms = append(s.Terms, t)
		}
		sums = append(sums, s)
	}
	add(g.Total, Term{PerUnit: 1})
	add(g.Used, Term{Whole: 1})
	return sums
}

// bounding bounds what some ingredients can add to a sum: by what each can add, and by the most
// that a unit and a used ingredient can add.
type bounding struct {
	lo, hi           float64
	perLo, perHi     int64
	wholeLo, wholeHi int64
}

// add includes n ingredients with the same term.
func (b *bounding) add(k amountSet, required bool, n int, t Term) {
	v, w := t.PerUnit*int64(k.lo)+t.Whole, t.PerUnit*int64(k.hi())+t.Whole
	lo, hi := min(v, w), max(v, w)
	if !required {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	// Sums below 2^53 are exact. Larger ones get no bound.
	if b.lo += float64(float64(lo) * float64(n)); math.Abs(b.lo) > 1<<53 {
		b.lo = math.Inf(-1)
	}
	if b.hi += float64(float64(hi) * float64(n)); math.Abs(b.hi) > 1<<53 {
		b.hi = math.Inf(1)
	}
	b.perLo, b.perHi = min(b.perLo, t.PerUnit), max(b.perHi, t.PerUnit)
	b.wholeLo, b.wholeHi = min(b.wholeLo, t.Whole), max(b.wholeHi, t.Whole)
}

// span returns the bounds for at most the given units and used ingredients.
func (b *bounding) span(units, most int) span {
	s := span{b.perLo*int64(units) + b.wholeLo*int64(most), b.perHi*int64(units) + b.wholeHi*int64(most)}
	if !math.IsInf(b.lo, 0) {
		s.lo = max(s.lo, int64(b.lo))
	}
	if !math.IsInf(b.hi, 0) {
		s.hi = min(s.hi, int64(b.hi))
	}
	return s
}
