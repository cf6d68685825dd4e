package rule

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/golden"
)

// A bound is moved from where it is to the figures that there are: one that lies
// beyond all of them from just beyond, so that the first notch is the nearest figure.
func TestBoundKnobs(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{-inf, inf, ""},
		{2.5, inf, "lower the min of x from 2.5 to 2.4, at most 5"},
		{-inf, 2.5, "raise the max of x from 2.5 to 2.6, at most 15"},
		{7, inf, "lower the min of x from 7 to 4, at most 21"},
		{-inf, 1, "raise the max of x from 1 to 2, at most 21"},
		{1, inf, ""},
		{2, inf, ""},
		{2.1, inf, "lower the min of x from 2.1 to 2, at most 1"},
		{-inf, 4, ""},
		{-inf, 3.9, "raise the max of x from 3.9 to 4, at most 1"},
	} {
		got := ""
		for _, k := range boundKnobs(c.lo, c.hi, 20, 40, 10, func(lo, hi float64) Rule { return Limit{Min: lo, Max: hi} }) {
			got += fmt.Sprintf("%s, at most %d", k.text(1, "x"), k.limit)
			r := k.turn(1).(Limit)
			if moved := r.Min != c.lo; moved == (r.Max != c.hi) {
				t.Errorf("from %v to %v is turned to %+v", c.lo, c.hi, r)
			}
		}
		if got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// TestKnobs: how rules of every kind can be let go of, a notch at a time, as it was told.
func TestKnobs(t *testing.T) {
	kept := golden.Open(t)
	inf, s := math.Inf(1), &Set{Ingredients: 4, Total: 20}
	factors := []float64{0.5, 2, 7.25, 10}
	for name, r := range map[string]Rule{
		"an amount":            Amount{Of: []int{0}, Min: 3, Max: 9},
		"an amount in steps":   Amount{Of: []int{0}, Min: 6, Max: 20, Step: 3},
		"no amount":            Amount{Of: []int{0}},
		"a group":              Group{Of: []int{0, 1, 2}, Used: &Range{Min: 1, Max: 2}, Total: &Range{Min: 5, Max: 15}},
		"a wide group":         Group{Of: []int{0, 1, 2}, Used: &Range{Min: 0, Max: 3}, Total: &Range{Min: 0, Max: 20}},
		"a limit":              Limit{Factors: factors, Min: 1, Max: 3},
		"a limit of some":      Limit{Factors: factors, Of: []int{2, 1}, Min: 3, Max: 5},
		"a limit of none":      Limit{Factors: factors, Of: []int{}, Min: 3, Max: 5},
		"a limit beyond":       Limit{Factors: factors, Of: []int{1, 2}, Min: 20, Max: -1},
		"a limit of no bounds": Limit{Factors: factors, Min: -inf, Max: inf},
		"a ratio":              Ratio{Of: []int{0}, To: []int{1}, Min: 0.5, Max: 2},
		"a ratio at most":      Ratio{Of: []int{0}, To: []int{1}, Min: 0, Max: 1.5},
		"near":                 Near{Recipe: []Part{{Ingredient: 0, Amount: 20}}, Changes: 1, Distance: 6},
		"near in neither":      Near{Recipe: []Part{{Ingredient: 0, Amount: 20}}, Changes: -1, Distance: -1},
		"the same and far":     Near{Recipe: []Part{{Ingredient: 0, Amount: 20}}, Changes: 4, Distance: 20},
		"where one is used":    If{Used: []int{3}, Then: Amount{Of: []int{0}, Min: 3}},
		"a need":               Need{If: 0, Then: []int{1}},
	} {
		said := ""
		for _, k := range r.knobs(s) {
			last := k.limit
			said += fmt.Sprintf("%s; at last %s: %s", k.text(1, "x"), k.text(last, "x"), k.turn(last).words(s))
			if k.round != nil {
				said += fmt.Sprintf(", 1 and 3 rounded to %d and %d", k.round(1), k.round(3))
			}
			said += fmt.Sprintf(", by %d\n", k.by)
		}
		kept.Holds(t, name, said)
	}
}
