package serve

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kir/internal/measure"
)

// Amounts read in percent and in the unit of the recipes, whatever the page sends,
// and written so that they are whole units.
func TestMeasure(t *testing.T) {
	bar := amountConverter{totalUnits: 1000, unitName: "cl", recipeSize: 9}
	lab := amountConverter{totalUnits: 346}
	for _, c := range []struct {
		m             amountConverter
		text          string
		said, written string
	}{
		{bar, "300", "30.0 % (2.7 of 9 cl)", "30%"},
		{bar, "30%", "30.0 % (2.7 of 9 cl)", "30%"},
		{bar, " 30.04 % ", "30.0 % (2.7 of 9 cl)", "30%"},
		{bar, "0.01%", "0.1 % (0.009 of 9 cl)", "0.1%"},
		{lab, "63", "18.2 %", "63"}, {lab, "18.2%", "18.2 %", "63"}, {lab, "173", "50.0 %", "50%"}, {lab, "0%", "0.0 %", "0%"}, {lab, "346", "100.0 %", "100%"},
		{lab, "347", "347", "347"}, {lab, "lots", "lots", "lots"}, {lab, "-3", "-3", "-3"}, {lab, "NaN%", "NaN%", "NaN%"}, {lab, "101%", "101%", "101%"}, {lab, "", "", ""},
		{amountConverter{}, "30", "30", "30"}, {amountConverter{}, "30%", "30%", "30%"},
	} {
		if said, written := c.m.amountText(c.text), c.m.toProblemAmount(c.text); said != c.said || written != c.written {
			t.Errorf("of %d units %q is said as %q and written as %q", c.m.totalUnits, c.text, said, written)
		}
	}
	for _, c := range []struct{ least, most, want string }{
		{"10%", "350", "10.0 % to 35.0 % (0.9 to 3.15 of 9 cl)"}, {"", "5%", "at most 5.0 % (0.45 of 9 cl)"}, {"50", "", "at least 5.0 % (0.45 of 9 cl)"}, {"a", "b", "a to b"},
	} {
		if got := bar.rangeText(c.least, c.most); got != c.want {
			t.Errorf("from %q to %q is %q", c.least, c.most, got)
		}
	}
}

// Amounts are shown in the unit of the table, of its median recipe, then in percent and the
// usual units of its kind, to what measures in them.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		m    amountConverter
		want string
	}{
		{amountConverter{totalUnits: 1000, unitName: "cl", recipeSize: 9, unitSize: 10, unitKind: measure.Volume}, "[{cl 9 [0.25 0.5 0.1 0.01] true} {% 100 [0.1] false} {ml 90 [1 2.5 5 0.1] true} {oz 3.04 [0.25 0.5 0.1 0.01] true}]"},
		{amountConverter{totalUnits: 100, unitName: "kg", recipeSize: 2.5, unitSize: 1000, unitKind: measure.Mass}, "[{kg 2.5 [0.001 0.01 0.1] false} {% 100 [0.1] false} {g 2500 [0.1 1 0.01 0.001] false}]"},
		{amountConverter{totalUnits: 100}, "[{% 100 [0.1] false} {g 100 [0.1 1 0.01 0.001] false} {ml 100 [1 2.5 5 0.1] true}]"},
	} {
		if got := fmt.Sprint(c.m.displayUnits()); got != c.want {
			t.Errorf("%+v has the units %s", c.m, got)
		}
	}
}

// TestHistoryWords: the history reads in percent and in the table's unit, whatever
// the total, and nowhere in units of the total.
func TestHistoryWords(t *testing.T) {
	file := smallCocktails(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Units that are no short percentages.
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "total: 1000 #", "total: 346 #", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serving(t, file)
	c.drawn()
	for _, r := range []struct {
		Request
		want, rule string
	}{
		{Request{Action: "pin", Ingredient: "Gin"}, "with Gin", "always use Gin"},
		{Request{Action: "pin", Ingredient: "Gin", Amount: "63"}, "Gin kept at 18.2 % (1.64 of 9 cl)", "Gin: exactly 18.2 %, if used"},
		{Request{Action: "dose", Ingredient: "Vodka", Min: "0%", Max: "35%"}, "Vodka at most 35.0 % (3.15 of 9 cl)", "Vodka: at most 35 %"},
		{Request{Action: "group", Attribute: "kind", Value: "spirit", Min: "10.3%"}, "spirit at least 10.4 % (0.936 of 9 cl)", "kind spirit: together at least 10.4 %"},
	} {
		c.must(r.Request)
		s := c.until("drawing", func(s *State) bool { return s.Problem != nil })
		if got := s.Steps[len(s.Steps)-1].Change; got != r.want || s.Fault != nil {
			t.Errorf("%+v reads %q, %+v", r.Request, got, s.Fault)
		}
		if got := s.Problem.Constraints[len(s.Problem.Constraints)-1]; got != r.rule {
			t.Errorf("%+v has the rule %q", r.Request, got)
		}
	}
	// What is banned is not kept, either.
	here := c.session.history.Current
	c.must(Request{Action: "ban", Ingredient: "Gin"})
	s := c.until("drawing", func(s *State) bool { return s.Problem != nil })
	if gin := slices.DeleteFunc(s.Problem.Constraints, func(text string) bool { return !strings.Contains(text, "Gin") }); !slices.Equal(gin, []string{"never use Gin"}) {
		t.Errorf("of what was pinned and banned the rules are %q", gin)
	}
	c.must(Request{Action: "back", Step: here})
	// The ways out of a conflict, too, which are written as the rule was.
	c.must(Request{Action: "rule", Text: `group: {of: [Gin], total: ["50%", "100%"]}`})
	s = c.until("a conflict", func(s *State) bool { return s.Fault != nil })
	const first, second = `raise the max of "Gin: exactly 18.2 %, if used" from 18.2 % to 50 %`, `lower the least total of "Gin: together at least 50 %" from 50 % to 18.2 %`
	if ways := s.Fault.Fixes; len(ways) != 2 || ways[0].Text != first || ways[1].Text != second {
		t.Fatalf("the ways out are %+v", s.Fault.Fixes)
	}
	c.must(Request{Action: "way", Rule: 0})
	s = c.until("freed", func(s *State) bool { return s.Problem != nil })
	if got := s.Steps[len(s.Steps)-1].Change; got != first || !slices.Contains(s.Problem.Constraints, "Gin: 18.2 to 50 %, if used") {
		t.Errorf("the fix is %q, with the constraints %q", got, s.Problem.Constraints)
	}
	if text := c.session.history.currentStep().Text; !strings.Contains(text, "- amount: {of: Gin, min: 63, max: 173}") {
		t.Errorf("it is written as %s", text)
	}
}
