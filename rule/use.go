package rule

import "kir/count"

// Require makes all of the ingredients used.
type Require struct{ Of []int }

// Exclude makes all of the ingredients unused.
type Exclude struct{ Of []int }

func (r Require) words(s *Set) string { return "require " + s.of(r.Of) }
func (r Exclude) words(s *Set) string { return "exclude " + s.of(r.Of) }

func (r Require) check(s *Set) error { return s.members(r.Of...) }
func (r Exclude) check(s *Set) error { return s.members(r.Of...) }

func (r Require) conditions(c *Conditions) {
	c.each(r.Of, func(a *count.Ingredient) { a.Required = true })
}

func (r Exclude) conditions(c *Conditions) {
	c.each(r.Of, func(a *count.Ingredient) { a.Excluded = true })
}

func (r Require) slacks(parts []Part, _ int) []Slack {
	all := float64(len(r.Of))
	return []Slack{{Value: float64(usedOf(parts, r.Of)), Min: all, Max: all, Unit: "ingredients", Ingredient: -1}}
}

func (r Exclude) slacks(parts []Part, _ int) []Slack {
	return []Slack{{Value: float64(usedOf(parts, r.Of)), Unit: "ingredients", Ingredient: -1}}
}

func (Require) knobs(*Set) []knob { return nil }
func (Exclude) knobs(*Set) []knob { return nil }
