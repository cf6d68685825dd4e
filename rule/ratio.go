package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Ratio bounds the ratio of the total amounts of two lists of ingredients: Min ≤ Σ_{i∈Of} x_i / Σ_{i∈To} x_i
// ≤ Max. The rule is checked as Min·Σ_To ≤ Σ_Of ≤ Max·Σ_To. Hence if no ingredient of To is used, a Max
// excludes all ingredients of Of, and a Min requires nothing. An ingredient may be in both lists, for example
// for the ratio of a part to its whole.
//
// Bounds are rounded like the bounds of a [Limit].
type Ratio struct {
	Of       []int   // indices of the ingredients of the numerator
	To       []int   // indices of the ingredients of the denominator
	Min, Max float64 // bounds of the ratio; a Min of −Inf or 0 and a Max of +Inf mean no bound
}

func (r Ratio) describe(s *Set) string {
	return "ratio of " + s.joinNames(r.Of) + " to " + s.joinNames(r.To) + boundWords(r.Min, r.Max)
}

func (r Ratio) check(s *Set) error {
	if err := checkBounds("ratio", r.Min, r.Max); err != nil {
		return err
	}
	switch {
	case math.IsInf(r.Min, 1) || r.Max < 0:
		return fmt.Errorf("asks for a ratio from %v to %v", r.Min, r.Max)
	case len(r.Of) == 0 || len(r.To) == 0:
		return errors.New("is a ratio of nothing")
	}
	return s.checkIngredients(append(append([]int{}, r.Of...), r.To...)...)
}
