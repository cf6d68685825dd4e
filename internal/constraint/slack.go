package constraint

import (
	"slices"

	"kir/rule"
)

// A Slack is a figure of a composition together with the bounds that a rule sets for it.
type Slack struct {
	Value      float64
	Min, Max   float64 // −Inf and +Inf if there is no bound
	Unit       string  // "units", "ingredients", or the attribute of which Value is the mean
	Ingredient int     // ingredient whose amount is Value; −1 if Value concerns several ingredients
}

// Room returns the distance from the figure to the nearer bound: 0 at a bound, +Inf without bounds.
func (s Slack) Room() float64 { return min(s.Value-s.Min, s.Max-s.Value) }

// Slacks returns the figures that a rule bounds in a composition of total units, given by its parts. A
// group that bounds both the number of used members and their sum has two figures. A rule on the amounts of
// several ingredients is represented by the ingredient with the least room. Slacks returns nothing if the
// rule does not apply. A rule on amounts does not apply if none of its ingredients is used. A dependence
// does not apply if its ingredient is not used.
func Slacks(r rule.Rule, parts []rule.Part, total int) []Slack {
	if k := kindOf(r); k != nil {
		return k.slacks(parts, total)
	}
	return nil
}

func amountOf(parts []rule.Part, ingredient int) int {
	for _, p := range parts {
		if p.Ingredient == ingredient {
			return p.Amount
		}
	}
	return 0
}

// amountsOf returns the total units of the ingredients in of.
func amountsOf(parts []rule.Part, of []int) int {
	sum := 0
	for _, p := range parts {
		if slices.Contains(of, p.Ingredient) {
			sum += p.Amount
		}
	}
	return sum
}

// usedOf returns how many of the ingredients in of are used.
func usedOf(parts []rule.Part, of []int) int {
	n := 0
	for _, i := range of {
		if amountOf(parts, i) > 0 {
			n++
		}
	}
	return n
}
