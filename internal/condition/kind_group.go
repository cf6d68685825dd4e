package condition

import (
	"math"
	"slices"

	"kir/internal/count"
	"kir/rule"
)

type groupRule rule.Group

func (r groupRule) conditions(c *Conditions) {
	if r.Used != nil || r.Total != nil {
		c.addGroup(count.Group{Members: slices.Clone(r.Of), Used: (*count.Range)(r.Used), Total: (*count.Range)(r.Total)})
	}
}

func (r groupRule) slacks(parts []rule.Part, total int) []Slack {
	var slacks []Slack
	if r.Used != nil {
		s := Slack{Value: float64(usedOf(parts, r.Of)), Unit: "ingredients", Ingredient: -1}
		s.Min, s.Max = ends(r.Used, len(r.Of))
		slacks = append(slacks, s)
	}
	if r.Total != nil {
		sum := 0
		for _, i := range r.Of {
			sum += amountOf(parts, i)
		}
		s := Slack{Value: float64(sum), Unit: "units", Ingredient: -1}
		s.Min, s.Max = ends(r.Total, total)
		slacks = append(slacks, s)
	}
	return slacks
}

// ends returns the bounds of a range of numbers from 0 to most. A bound that no
// number can pass is none.
func ends(r *rule.Range, most int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if r.Min > 0 {
		lo = float64(r.Min)
	}
	if r.Max < most {
		hi = float64(r.Max)
	}
	return lo, hi
}
