package rule

import (
	"fmt"
	"math"
	"slices"

	"kir/internal/count"
)

// Group bounds ingredients together: how many of them are used, and the units
// that they take. A nil range does not bound.
type Group struct {
	Of    []int
	Used  *Range
	Total *Range
}

func (r Group) words(s *Set) string {
	if r.Used != nil && *r.Used == (Range{Min: 0, Max: 1}) && r.Total == nil {
		return "never " + s.of(r.Of)
	}
	text := "group " + s.of(r.Of)
	if r.Used != nil {
		text += fmt.Sprintf(" used %d to %d", r.Used.Min, r.Used.Max)
	}
	if r.Total != nil {
		text += fmt.Sprintf(" total %d to %d", r.Total.Min, r.Total.Max)
	}
	return text
}

func (r Group) check(s *Set) error {
	switch {
	case r.Used != nil && r.Used.Min > r.Used.Max:
		return fmt.Errorf("asks for %d to %d used", r.Used.Min, r.Used.Max)
	case r.Total != nil && r.Total.Min > r.Total.Max:
		return fmt.Errorf("asks for a total of %d to %d", r.Total.Min, r.Total.Max)
	}
	return s.members(r.Of...)
}

func (r Group) conditions(c *Conditions) {
	if r.Used != nil || r.Total != nil {
		c.addGroup(count.Group{Members: slices.Clone(r.Of), Used: r.Used, Total: r.Total})
	}
}

func (r Group) slacks(parts []Part, total int) []Slack {
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
func ends(r *Range, most int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if r.Min > 0 {
		lo = float64(r.Min)
	}
	if r.Max < most {
		hi = float64(r.Max)
	}
	return lo, hi
}

func (r Group) knobs(s *Set) []knob {
	var out []knob
	if u := r.Used; u != nil {
		to := func(used Range) Rule { r := r; r.Used = &used; return r }
		out = bound(out, "least used", u.Min, u.Min, -1, func(v int) Rule { return to(Range{Min: v, Max: u.Max}) })
		out = bound(out, "most used", u.Max, len(r.Of)-u.Max, 1, func(v int) Rule { return to(Range{Min: u.Min, Max: v}) })
	}
	if t := r.Total; t != nil {
		to := func(total Range) Rule { r := r; r.Total = &total; return r }
		out = bound(out, "least total", t.Min, t.Min, -1, func(v int) Rule { return to(Range{Min: v, Max: t.Max}) })
		out = bound(out, "greatest total", t.Max, s.Total-t.Max, 1, func(v int) Rule { return to(Range{Min: t.Min, Max: v}) })
	}
	return out
}
