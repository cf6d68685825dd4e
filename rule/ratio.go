package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Ratio bounds the ratio of two sums of amounts: Min ≤ Σ_{i∈Of} x_i / Σ_{i∈To} x_i ≤ Max. It is checked
// as Min·Σ_To ≤ Σ_Of ≤ Max·Σ_To. So if no ingredient of To is used, a Max excludes all of Of, and a Min
// requires nothing. An ingredient may be in both lists, as for the ratio of a part to its whole.
//
// Bounds are rounded like those of a [Limit].
type Ratio struct {
	Of, To   []int
	Min, Max float64 // bounds; −Inf or 0, and +Inf, mean none
}

func (r Ratio) describe(s *Set) string {
	return "ratio of " + s.namesOf(r.Of) + " to " + s.namesOf(r.To) + boundWords(r.Min, r.Max)
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
