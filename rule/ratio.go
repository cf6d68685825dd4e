package rule

import (
	"errors"
	"fmt"
	"math"
)

// A Ratio bounds what some ingredients take together by what others do: Min ≤
// Σ_{i∈Of} x_i / Σ_{i∈To} x_i ≤ Max, that is Min·Σ_To ≤ Σ_Of ≤ Max·Σ_To. So where
// none of To is used, a Max allows none of Of, and a Min asks for nothing.
// Ingredients may be in both, as of a part and the whole that it is of.
//
// Bounds are taken to as many decimals as those of a [Limit].
type Ratio struct {
	Of, To   []int
	Min, Max float64 // −Inf or 0, and +Inf, where there is no bound
}

func (r Ratio) words(s *Set) string {
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
