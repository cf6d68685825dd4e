package rule

import (
	"errors"
	"fmt"
)

// Amount limits the amount of each listed ingredient, if it is used, to Min, Min+Step, Min+2·Step and so on up
// to Max. A Min of 0 stands for Step, a Max of 0 for no limit, and a Step of 0 for 1. If several rules apply to
// an ingredient, its amount must satisfy all of them: "multiples of 50" and "at least 120" leave 150, 200 and
// so on.
type Amount struct {
	Of             []int // indices of the ingredients
	Min, Max, Step int
}

func (r Amount) describe(s *Set) string {
	text := "amount of " + s.joinNames(r.Of)
	for _, b := range []struct {
		key   string
		value int
	}{{"min", r.Min}, {"max", r.Max}, {"step", r.Step}} {
		if b.value > 0 {
			text += fmt.Sprintf(" %s %d", b.key, b.value)
		}
	}
	return text
}

func (r Amount) check(s *Set) error {
	switch {
	case r.Min < 0 || r.Max < 0 || r.Step < 0:
		return errors.New("has a negative amount")
	case r.Max > 0 && r.Min > r.Max:
		return fmt.Errorf("asks for amounts of at least %d and at most %d", r.Min, r.Max)
	}
	return s.checkIngredients(r.Of...)
}
