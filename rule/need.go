package rule

import "math"

// A Need says that if an ingredient is used, so is at least one of others.
type Need struct {
	If   int
	Then []int
}

func (r Need) words(s *Set) string { return s.name(r.If) + " needs " + s.of(r.Then) }

func (r Need) check(s *Set) error { return s.members(append([]int{r.If}, r.Then...)...) }

func (r Need) conditions(c *Conditions) { c.addNeed(Dependence(r)) }

// slacks has nothing to say where the ingredient is not used.
func (r Need) slacks(parts []Part, _ int) []Slack {
	if amountOf(parts, r.If) == 0 {
		return nil
	}
	return []Slack{{Value: float64(usedOf(parts, r.Then)), Min: 1, Max: math.Inf(1), Unit: "ingredients", Ingredient: -1}}
}

func (Need) knobs(*Set) []knob { return nil }
