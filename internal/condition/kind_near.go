package condition

import (
	"math"

	"kir/rule"
)

type nearRule rule.Near

// conditions uses that of r ingredients, of which u are used beside v others,
// r − u + v come or go, and that units that change hands are those of the recipe
// that are left: M − Σ_i min(x_i, r_i).
func (r nearRule) conditions(c *Conditions) {
	if r.Changes >= 0 {
		s := Sum{Min: math.MinInt64, Max: int64(r.Changes - len(r.Recipe))}
		for i := range c.Amounts {
			s.Terms = append(s.Terms, Term{Ingredient: i, Whole: 1})
		}
		for _, p := range r.Recipe {
			s.Terms[p.Ingredient].Whole = -1
		}
		c.addSum(s)
	}
	if r.Distance >= 0 {
		s := Sum{Min: int64(c.Total - r.Distance), Max: math.MaxInt64}
		for _, p := range r.Recipe {
			s = s.add(Term{Ingredient: p.Ingredient, PerUnit: 1, Cap: p.Amount})
		}
		c.addSum(s)
	}
}

func (r nearRule) slacks(parts []rule.Part, _ int) []Slack {
	common, units, away := 0, 0, 0
	for _, p := range r.Recipe {
		a := amountOf(parts, p.Ingredient)
		if a > 0 {
			common++
		}
		units += p.Amount
		away += max(p.Amount-a, 0)
	}
	var out []Slack
	add := func(v, most int, unit string) {
		if most >= 0 {
			out = append(out, Slack{Value: float64(v), Min: math.Inf(-1), Max: float64(most), Unit: unit, Ingredient: -1})
		}
	}
	add(len(r.Recipe)+len(parts)-2*common, r.Changes, "changes")
	add(away, r.Distance, "units")
	return out
}
