package condition

import (
	"slices"

	"kir/rule"
)

// A Slack sets a figure of a composition beside the bounds that a rule sets
// it.
type Slack struct {
	Value      float64
	Min, Max   float64 // −Inf and +Inf where there is no bound
	Unit       string  // "units", "ingredients", or the attribute whose mean it is
	Ingredient int     // the one whose amount it is; −1 if it is of several
}

// Room returns how far the figure may still change in the one direction that
// leaves the least: the distance to the nearer bound, +Inf without any. It is 0
// at a bound.
func (s Slack) Room() float64 { return min(s.Value-s.Min, s.Max-s.Value) }

// Slacks returns the figures of a composition of total units, given by its
// parts, that a rule bounds: a group that bounds both has two, how many of its
// ingredients are used and what they add up to. A rule on the amounts of several
// ingredients is represented by the one with the least room. There are none
// where the rule has nothing to say: of amounts, if none of its ingredients is
// used; of what an ingredient needs, if it is not used.
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

// amountsOf sums what some ingredients take.
func amountsOf(parts []rule.Part, of []int) int {
	sum := 0
	for _, p := range parts {
		if slices.Contains(of, p.Ingredient) {
			sum += p.Amount
		}
	}
	return sum
}

// usedOf counts those of some ingredients that are used.
func usedOf(parts []rule.Part, of []int) int {
	n := 0
	for _, i := range of {
		if amountOf(parts, i) > 0 {
			n++
		}
	}
	return n
}
