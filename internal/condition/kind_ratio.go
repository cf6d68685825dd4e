package condition

import (
	"math"

	"kir/rule"
)

type ratioRule rule.Ratio

// Ratio returns the bounds that a ratio of whole numbers can pass, and the scale of which
// they are taken as whole numbers.
func Ratio(r rule.Ratio, total int) (lo, hi, scale float64) {
	lo, hi = max(r.Min, 0), r.Max
	top := max(lo, 1)
	if !math.IsInf(hi, 1) {
		top = max(top, hi)
	}
	top = min(top, float64(total)+1) // no ratio of amounts is more than the total
	return min(lo, top), hi, scaleOf(top+1, total)
}

func (r ratioRule) conditions(c *Conditions) {
	lo, hi, scale := Ratio(rule.Ratio(r), c.Total)
	over := func(bound float64) Sum { // Σ_Of − bound·Σ_To
		of, to := total(r.Of, Whole(1, scale)), total(r.To, -Whole(bound, scale))
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
func (r ratioRule) slacks(parts []rule.Part, total int) []Slack {
	of, to := amountsOf(parts, r.Of), amountsOf(parts, r.To)
	if to == 0 {
		return nil
	}
	return []Slack{{Value: float64(of) / float64(to), Min: r.Min, Max: r.Max, Unit: "ratio", Ingredient: -1}}
}
