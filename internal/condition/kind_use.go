package condition

import (
	"math"

	"kir/rule"
)

type requireRule rule.Require

type excludeRule rule.Exclude

func (r requireRule) conditions(c *Conditions) {
	c.require(r.Of)
}

func (r excludeRule) conditions(c *Conditions) {
	c.exclude(r.Of)
}

func (r requireRule) slacks(parts []rule.Part, _ int) []Slack {
	all := float64(len(r.Of))
	return []Slack{{Value: float64(usedOf(parts, r.Of)), Min: all, Max: all, Unit: "ingredients", Ingredient: -1}}
}

func (r excludeRule) slacks(parts []rule.Part, _ int) []Slack {
	return []Slack{{Value: float64(usedOf(parts, r.Of)), Unit: "ingredients", Ingredient: -1}}
}

type needRule rule.Need

func (r needRule) conditions(c *Conditions) { c.addNeed(Dependence(r)) }

// slacks has nothing to say where the ingredient is not used.
func (r needRule) slacks(parts []rule.Part, _ int) []Slack {
	if amountOf(parts, r.If) == 0 {
		return nil
	}
	return []Slack{{Value: float64(usedOf(parts, r.Then)), Min: 1, Max: math.Inf(1), Unit: "ingredients", Ingredient: -1}}
}
