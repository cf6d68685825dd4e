package count

import (
	"fmt"
	"math"
)

// A Sum sets the bounds Min ≤ Σ_i (a_i·x_i + u_i·[x_i > 0]) ≤ Max for a composition with the amounts x_i, in
// whole numbers. A bracket is 1 if the statement in the bracket is true, and 0 otherwise. For example, a limit on
// amounts has only a_i. "Ingredient i needs one of J" is [x_i > 0] − Σ_{j∈J} [x_j > 0] ≤ 0.
type Sum struct {
	Terms    []Term
	Min, Max int64 // bounds of the sum; math.MinInt64 and math.MaxInt64 mean no bound
}

// A Term is the contribution of one ingredient to a sum: PerUnit for each unit, and PerUse once if the
// ingredient is used.
type Term struct {
	Ingredient      int
	PerUnit, PerUse int64 // the coefficients a_i and u_i
}

// A span is the range lo..hi of values that a sum can have. The least int64 as lo, or the greatest int64 as hi,
// means no bound.
type span struct{ lo, hi int64 }

// maxSum is the maximum magnitude of a sum. The value is small enough that a few sums can be added within an
// int64.
const maxSum = 1 << 58

// value returns the sum for a composition given by the amount of each ingredient.
func (s *Sum) value(amount []int) int64 {
	v := int64(0)
	for _, t := range s.Terms {
		if x := amount[t.Ingredient]; x > 0 {
			v += t.PerUnit*int64(x) + t.PerUse
		}
	}
	return v
}

// validateSums returns an [ErrInvalid] for sums of missing ingredients, and a [SizeError] for sums that could
// exceed the range of int64.
func (s Space) validateSums() error {
	for k, sum := range s.Sums {
		for _, t := range sum.Terms {
			if t.Ingredient < 0 || t.Ingredient >= len(s.Ingredients) {
				return fmt.Errorf("%w: sum %d has a term of ingredient %d and ingredients go from 0 to %d", ErrInvalid, k, t.Ingredient, len(s.Ingredients)-1)
			}
			per, whole := math.Abs(float64(t.PerUnit)), math.Abs(float64(t.PerUse))
			if need := float64(per*float64(s.Total)) + float64(whole*float64(min(s.Total, len(s.Ingredients)))); need > maxSum/4 {
				return &SizeError{need, maxSum / 4, "values of a sum"}
			}
		}
	}
	return nil
}

// Sums returns the limits of the group as weighted sums: a sum of the units of the members, and a sum that counts
// the used members. A nil limit has no sum.
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
	add(g.Used, Term{PerUse: 1})
	return sums
}

// A termBounds bounds what a set of ingredients can add to a sum, in two ways. The fields lo and hi add up the
// least and greatest contribution of each ingredient. The other fields are the least and greatest contribution of
// one unit and of one used ingredient.
type termBounds struct {
	lo, hi               float64 // sums of the least and of the greatest contributions of the ingredients
	perUnitLo, perUnitHi int64   // least and greatest contribution of one unit of any ingredient
	perUseLo, perUseHi   int64   // least and greatest contribution of the use of any ingredient
}

// add adds n ingredients to the set, each with the amounts k and the term t.
func (b *termBounds) add(k amountSet, required bool, n int, t Term) {
	v, w := t.PerUnit*int64(k.lo)+t.PerUse, t.PerUnit*int64(k.hi())+t.PerUse
	lo, hi := min(v, w), max(v, w)
	if !required {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	// Sums up to 2^53 in magnitude are exact in float64. Beyond 2^53 the bound is dropped.
	if b.lo += float64(float64(lo) * float64(n)); math.Abs(b.lo) > 1<<53 {
		b.lo = math.Inf(-1)
	}
	if b.hi += float64(float64(hi) * float64(n)); math.Abs(b.hi) > 1<<53 {
		b.hi = math.Inf(1)
	}
	b.perUnitLo, b.perUnitHi = min(b.perUnitLo, t.PerUnit), max(b.perUnitHi, t.PerUnit)
	b.perUseLo, b.perUseHi = min(b.perUseLo, t.PerUse), max(b.perUseHi, t.PerUse)
}

// span returns the range of values that the ingredients can add to the sum, if at most maxUsedOnward of the
// ingredients are used and take at most the given units.
func (b *termBounds) span(units, maxUsed int) span {
	s := span{b.perUnitLo*int64(units) + b.perUseLo*int64(maxUsed), b.perUnitHi*int64(units) + b.perUseHi*int64(maxUsed)}
	if !math.IsInf(b.lo, 0) {
		s.lo = max(s.lo, int64(b.lo))
	}
	if !math.IsInf(b.hi, 0) {
		s.hi = min(s.hi, int64(b.hi))
	}
	return s
}
