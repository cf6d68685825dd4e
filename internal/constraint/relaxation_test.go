package constraint

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/golden"
	"kir/rule"
)

// A bound is moved from where it is to the figures that there are: one that lies
// beyond all of them from just beyond, so that the first notch is the nearest figure.
func TestBoundRelaxations(t *testing.T) {
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
		for _, k := range boundRelaxations(c.lo, c.hi, 20, 40, 10, func(lo, hi float64) rule.Rule { return rule.Limit{Min: lo, Max: hi} }) {
			got += fmt.Sprintf("%s, at most %d", k.Text(1, "x"), k.MaxNotches)
			r := k.Relax(1).(rule.Limit)
			if moved := r.Min != c.lo; moved == (r.Max != c.hi) {
				t.Errorf("from %v to %v is turned to %+v", c.lo, c.hi, r)
			}
		}
		if got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// TestRelaxations: how rules of every kind can be let go of, a notch at a time.
func TestRelaxations(t *testing.T) {
	kept := golden.Open(t)
	inf, s := math.Inf(1), &rule.Set{Ingredients: 4, Total: 20}
	factors := []float64{0.5, 2, 7.25, 10}
	wordsOf := func(r rule.Rule) string { return (&rule.Set{Rules: []rule.Rule{r}}).Describe(0) }
	for name, r := range map[string]rule.Rule{
		"an amount":            rule.Amount{Of: []int{0}, Min: 3, Max: 9},
		"an amount in steps":   rule.Amount{Of: []int{0}, Min: 6, Max: 20, Step: 3},
		"no amount":            rule.Amount{Of: []int{0}},
		"a group":              rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 5, Max: 15}},
		"a wide group":         rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 0, Max: 3}, Total: &rule.Range{Min: 0, Max: 20}},
		"a limit":              rule.Limit{Factors: factors, Min: 1, Max: 3},
		"a limit of some":      rule.Limit{Factors: factors, Of: []int{2, 1}, Min: 3, Max: 5},
		"a limit of none":      rule.Limit{Factors: factors, Of: []int{}, Min: 3, Max: 5},
		"a limit beyond":       rule.Limit{Factors: factors, Of: []int{1, 2}, Min: 20, Max: -1},
		"a limit of no bounds": rule.Limit{Factors: factors, Min: -inf, Max: inf},
		"a ratio":              rule.Ratio{Of: []int{0}, To: []int{1}, Min: 0.5, Max: 2},
		"a ratio at most":      rule.Ratio{Of: []int{0}, To: []int{1}, Min: 0, Max: 1.5},
		"near":                 rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 20}}, Changes: new(1), Distance: new(6)},
		"near in neither":      rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 20}}},
		"the same and far":     rule.Near{Recipe: []rule.Part{{Ingredient: 0, Amount: 20}}, Changes: new(4), Distance: new(20)},
		"where one is used":    rule.If{Used: []int{3}, Then: rule.Amount{Of: []int{0}, Min: 3}},
		"a need":               rule.Need{If: 0, Then: []int{1}},
	} {
		said := ""
		for _, k := range Relaxations(r, s) {
			last := k.MaxNotches
			said += fmt.Sprintf("%s; at last %s: %s", k.Text(1, "x"), k.Text(last, "x"), wordsOf(k.Relax(last)))
			if k.RoundUp != nil {
				said += fmt.Sprintf(", 1 and 3 rounded to %d and %d", k.RoundUp(1), k.RoundUp(3))
			}
			said += fmt.Sprintf(", by %d\n", k.UnitsPerNotch)
		}
		kept.CheckText(t, name, said)
	}
}
