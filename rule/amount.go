package rule

import (
	"errors"
	"fmt"
	"math"

	"kir/internal/count"
)

// Amount bounds the amount of each of the ingredients when it is used: Min,
// Min+Step, Min+2·Step and so on, as far as Max. Min 0 stands for the step, Max
// 0 for no bound, Step 0 for 1. An amount is allowed if each rule on it allows
// it: "multiples of 50" and "at least 120" leave 150, 200 and so on.
type Amount struct {
	Of             []int
	Min, Max, Step int
}

func (r Amount) words(s *Set) string {
	text := "amount of " + s.of(r.Of)
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
	return s.members(r.Of...)
}

func (r Amount) conditions(c *Conditions) {
	own := dosesOf(count.Ingredient{Min: r.Min, Max: r.Max, Step: r.Step}, c.Total)
	for _, i := range r.Of {
		c.allow(i, own)
	}
}

// slacks is of the ingredient with the least room.
func (r Amount) slacks(parts []Part, _ int) []Slack {
	var tightest []Slack
	for _, i := range r.Of {
		a := amountOf(parts, i)
		if a == 0 {
			continue
		}
		s := Slack{Value: float64(a), Min: math.Inf(-1), Max: math.Inf(1), Unit: "units", Ingredient: i}
		if r.Min > 0 {
			s.Min = float64(r.Min)
		}
		if r.Max > 0 {
			s.Max = float64(r.Max)
		}
		if tightest == nil || s.Room() < tightest[0].Room() {
			tightest = []Slack{s}
		}
	}
	return tightest
}

func (r Amount) knobs(s *Set) []knob {
	var out []knob
	if step := max(r.Step, 1); r.Min > 0 {
		out = bound(out, "min", r.Min, (r.Min-1)/step, -step, func(to int) Rule { r := r; r.Min = to; return r })
	}
	if r.Max > 0 {
		out = bound(out, "max", r.Max, s.Total-r.Max, 1, func(to int) Rule { r := r; r.Max = to; return r })
	}
	if r.Step > 1 {
		out = append(out, knob{
			limit: 1,
			turn:  func(int) Rule { r := r; r.Step = 1; return r },
			text:  func(_ int, name string) string { return "drop the step of " + name },
		})
	}
	return out
}
