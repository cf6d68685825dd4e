package constraint

import (
	"slices"

	"kir/rule"
)

// A Slack is a number that a rule bounds, such as an amount or a mean, computed for one composition, together
// with the bounds.
type Slack struct {
	Value      float64 // number that the rule bounds
	Min, Max   float64 // bounds of Value; −Inf and +Inf if there is no bound
	Unit       string  // unit of Value: "units", "ingredients", "changes", "ratio", or the attribute of which Value is the mean
	Ingredient int     // index of the ingredient whose amount is Value; −1 if Value concerns several ingredients
}

// Room returns the distance from Value to the nearer bound: 0 at a bound, +Inf without bounds, and negative if a
// bound is violated.
func (s Slack) Room() float64 { return min(s.Value-s.Min, s.Max-s.Value) }

// Slacks returns the numbers that the rule r bounds, computed for a composition, with their bounds. The parts
// list the used ingredients of the composition with their amounts, which sum to total units. A group that bounds
// both the number of used members and the units of the members gives two slacks. A rule on the amounts of several
// ingredients gives one slack, for the amount nearest to a bound. Slacks returns nil if the rule does not apply
// to the composition. For example, a rule on amounts does not apply if none of the ingredients of the rule is
// used, and a dependence does not apply if its ingredient If is not used.
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

// totalAmountOf returns how many units the given ingredients take together.
func totalAmountOf(parts []rule.Part, ingredients []int) int {
	sum := 0
	for _, p := range parts {
		if slices.Contains(ingredients, p.Ingredient) {
			sum += p.Amount
		}
	}
	return sum
}

// countUsed returns how many of the given ingredients are used.
func countUsed(parts []rule.Part, ingredients []int) int {
	n := 0
	for _, i := range ingredients {
		if amountOf(parts, i) > 0 {
			n++
		}
	}
	return n
}
