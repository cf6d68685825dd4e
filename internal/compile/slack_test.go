package compile

import (
	"fmt"
	"strings"
	"testing"

	"kir/mcmc"
)

// TestSlacks sets compositions beside each kind of rule. Ingredients are, in
// the shelf's order, 0 Champagne 12 %, 1 Cassis 20 %, 2 Gin 40 %, 3 Vermouth,
// 4 Campari 25 %, 5 Lemon juice, 6 Lime juice, 7 Orange bitters.
func TestSlacks(t *testing.T) {
	p, err := loadRules(t, headBook, strings.Join([]string{
		`  - require: [Gin]`,
		`  - exclude: Campari`,
		`  - amount: {of: "*", min: 2, max: 17}`,
		`  - amount: {of: Gin, step: 2}`,
		`  - group: {of: {group: citrus}, used: [0, 1], total: [0, 6]}`,
		`  - never: [Champagne, Cassis, Vermouth]`,
		`  - needs: {if: Lemon juice, then: [Gin, Cassis]}`,
		`  - limit: {attribute: abv, max: 36}`,
	}, "\n")+"\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		parts []mcmc.Part
		want  string // by rule: value in [min, max] unit of ingredient, room
	}{
		{
			[]mcmc.Part{{Ingredient: 0, Amount: 2}, {Ingredient: 2, Amount: 12}, {Ingredient: 5, Amount: 6}},
			"1 [1 1] ingredients -1 0; 0 [0 0] ingredients -1 0; 2 [2 17] units 0 0; 12 [-Inf +Inf] units 2 +Inf; " +
				"1 [-Inf 1] ingredients -1 0, 6 [-Inf 6] units -1 0; 1 [-Inf 1] ingredients -1 0; 1 [1 +Inf] ingredients -1 0; 25.2 [-Inf 36] abv -1 10.8",
		},
		{
			[]mcmc.Part{{Ingredient: 2, Amount: 16}, {Ingredient: 7, Amount: 4}},
			"1 [1 1] ingredients -1 0; 0 [0 0] ingredients -1 0; 16 [2 17] units 2 1; 16 [-Inf +Inf] units 2 +Inf; " +
				"0 [-Inf 1] ingredients -1 1, 0 [-Inf 6] units -1 6; 0 [-Inf 1] ingredients -1 1; ; 41 [-Inf 36] abv -1 -5",
		},
	} {
		var got []string
		for _, r := range p.Rules {
			var of []string
			for _, s := range r.Slacks(c.parts, p.Total) {
				of = append(of, fmt.Sprintf("%.4g [%g %g] %s %d %.4g", s.Value, s.Min, s.Max, s.Unit, s.Ingredient, s.Room()))
			}
			got = append(got, strings.Join(of, ", "))
		}
		if g := strings.Join(got, "; "); g != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.parts, g, c.want)
		}
	}
	if text := p.Rules[4].Text; text != "group citrus: at most 1 ingredient, together at most 30 %" {
		t.Errorf("the rule reads %q", text)
	}
}
