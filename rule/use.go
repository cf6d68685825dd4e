package rule

import "slices"

// Require makes all of the ingredients used.
type Require struct{ Of []int }

// Exclude makes all of the ingredients unused.
type Exclude struct{ Of []int }

func (r Require) words(s *Set) string { return "require " + s.of(r.Of) }
func (r Exclude) words(s *Set) string { return "exclude " + s.of(r.Of) }

func (r Require) check(s *Set) error { return s.members(r.Of...) }
func (r Exclude) check(s *Set) error { return s.members(r.Of...) }

func (r Require) conditions(c *Conditions) {
	c.require(r.Of)
}

func (r Exclude) conditions(c *Conditions) {
	c.exclude(r.Of)
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

// spare returns a rule that requires or excludes without some ingredients.
func spare(r Rule, of ...int) Rule {
	switch r := r.(type) {
	case Require:
		return Require{Of: without(r.Of, of...)}
	case Exclude:
		return Exclude{Of: without(r.Of, of...)}
	}
	return r
}

// without returns a list without some of its members.
func without(list []int, some ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return slices.Contains(some, i) })
}
