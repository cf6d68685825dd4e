package condition

import (
	"math"

	"kir/internal/count"
	"kir/rule"
)

type amountRule rule.Amount

func (r amountRule) conditions(c *Conditions) {
	own := DosesOf(count.Ingredient{Min: r.Min, Max: r.Max, Step: r.Step}, c.Total)
	for _, i := range r.Of {
		c.allow(i, own)
	}
}

// slacks is of the ingredient with the least room.
func (r amountRule) slacks(parts []rule.Part, _ int) []Slack {
	var tightest []Slack
	for _, i := range r.Of {
		a := amountOf(parts, i)
		if a == 0 {
			continue
		}
		s := Slack{Value: float64(a), Min: math.Inf(-1), Max: math.Inf(1), Unit: "units", Ingredient: i}
		if r.Min > 0 {
			s.Min = float64(r.Min)
		}
		if r.Max > 0 {
			s.Max = float64(r.Max)
		}
		if tightest == nil || s.Room() < tightest[0].Room() {
			tightest = []Slack{s}
		}
	}
	return tightest
}
