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
	return "ratio of " + s.of(r.Of) + " to " + s.of(r.To) + boundWords(r.Min, r.Max)
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
	return s.members(append(append([]int{}, r.Of...), r.To...)...)
}

// bounds returns the bounds that a ratio of whole numbers can pass.
func (r Ratio) bounds(total int) (lo, hi, scale float64) {
	lo, hi = max(r.Min, 0), r.Max
	top := max(lo, 1)
	if !math.IsInf(hi, 1) {
		top = max(top, hi)
	}
	top = min(top, float64(total)+1) // no ratio of amounts is more than the total
	return min(lo, top), hi, scaleOf(top+1, total)
}

func (r Ratio) conditions(c *Conditions) {
	lo, hi, scale := r.bounds(c.Total)
	over := func(bound float64) Sum { // Σ_Of − bound·Σ_To
		of, to := total(r.Of, whole(1, scale)), total(r.To, -whole(bound, scale))
		return of.add(to.Terms...)
	}
	if lo > 0 {
		s := over(lo)
		s.Min = 0
		c.addSum(s)
	}
	if hi <= float64(c.Total) {
		s := over(hi)
		s.Max = 0
		c.addSum(s)
	} else if !math.IsInf(hi, 1) { // none of Of without some of To
		s := over(float64(c.Total))
		s.Max = 0
		c.addSum(s)
	}
}

// slacks has nothing to say where none of To is used.
func (r Ratio) slacks(parts []Part, total int) []Slack {
	of, to := amountsOf(parts, r.Of), amountsOf(parts, r.To)
	if to == 0 {
		return nil
	}
	return []Slack{{Value: float64(of) / float64(to), Min: r.Min, Max: r.Max, Unit: "ratio", Ingredient: -1}}
}

func (r Ratio) knobs(s *Set) []knob {
	lo, hi, scale := r.bounds(s.Total)
	if lo == 0 {
		lo = math.Inf(-1)
	}
	return boundKnobs(lo, hi, 0, whole(float64(s.Total), scale), scale, func(lo, hi float64) Rule {
		r := r
		r.Min, r.Max = lo, hi
		return r
	})
}
