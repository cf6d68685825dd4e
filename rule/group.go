package rule

import (
	"fmt"
)

// Group limits a group of ingredients: how many of them are used, and how many units they have together. A nil
// range means no limit.
type Group struct {
	Of    []int  // indices of the ingredients of the group
	Used  *Range // range of the number of used ingredients of the group
	Total *Range // range of the units of the group
}

func (r Group) describe(s *Set) string {
	if r.Used != nil && *r.Used == (Range{Min: 0, Max: 1}) && r.Total == nil {
		return "never " + s.joinNames(r.Of)
	}
	text := "group " + s.joinNames(r.Of)
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
	return s.checkIngredients(r.Of...)
}
