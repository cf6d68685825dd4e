package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRequests makes each change that the page has and looks at what the file says
// then, and that the problem is drawn.
func TestRequests(t *testing.T) {
	c := serving(t, smallCocktails(t))
	for _, r := range []struct {
		request Request
		want    string
	}{
		{Request{Action: "pin", Ingredient: "Gin"}, "- require: Gin"},
		{Request{Action: "pin", Ingredient: "Campari", Amount: "20%"}, `amount: {of: Campari, min: "20%", max: "20%"}`},
		{Request{Action: "ban", Ingredient: "Milk"}, "- exclude: Milk"},
		{Request{Action: "replace", Ingredient: "Gin", Replacement: "Vodka"}, "- require: Vodka"},
		{Request{Action: "dose", Ingredient: "Gin", Min: "5%", Max: "50%"}, `amount: {of: Gin, min: "5%", max: "50%"}`},
		{Request{Action: "group", Attribute: "kind", Value: "sour", Min: "10%"}, `group: {of: {kind: sour}, total: ["10%", "100%"]}`},
		{Request{Action: "near", Recipe: map[string]int{"Gin": 500, "Lemon juice": 500}, Changes: 2}, "near:"},
		{Request{Action: "weight", Property: "taste", Weight: 2.5}, "weight: 2.5"},
		{Request{Action: "trade", Trade: []string{"taste", "timing"}}, "trade: [taste, timing]"},
		{Request{Action: "aim", Property: "taste", Direction: "want", Aim: "Sweet"}, "want: Sweet"},
		{Request{Action: "rule", Text: "never: [Milk, Lemon juice]"}, "- never: [Milk, Lemon juice]"},
		{Request{Action: "seed", Rule: 7}, "seed: 7"},
	} {
		c.must(Request{Action: "back", Step: 1})
		c.must(r.request)
		s := c.until(r.want, func(s *State) bool { return s.Phase != "reading" })
		text := c.session.history.currentStep().Text
		if s.Phase != "drawing" || !strings.Contains(text, r.want) {
			t.Errorf("%+v: %s %+v\n%s", r.request, s.Phase, s.Fault, text)
		}
		if !strings.Contains(text, "# The book of problem.yaml") {
			t.Errorf("%+v: the comments are gone", r.request)
		}
	}
	for _, bad := range []Request{
		{}, {Action: "fly"}, {Action: "back", Step: 99}, {Action: "back", Step: -1}, {Action: "name", Step: 1, Text: strings.Repeat("x", 300)}, {Action: "weight", Property: "none"},
		{Action: "drop", Rule: 50}, {Action: "dose", Ingredient: "Gin", Min: "lots"}, {Action: "aim", Property: "taste", Direction: "fly", Aim: 1}, {Action: "rule", Text: "[]"}, {Action: "way"},
	} {
		if status, text := c.do(bad); status != http.StatusBadRequest {
			t.Errorf("%+v: %d %s", bad, status, text)
		}
	}
	status, _ := c.get("/leaves?change=" + `{"do":"rule","text":"require:%20Gin"}`)
	if status != http.StatusOK {
		t.Errorf("what a rule leaves: %d", status)
	}
}

// TestWaysOut takes each way out of some conflicts: the problem can be drawn then.
func TestWaysOut(t *testing.T) {
	for name, rules := range map[string]string{
		"a dose":     "  - require: Gin\n  - amount: {of: Gin, min: \"60%\"} # as ever\n  - group: {of: {kind: spirit}, total: [0, 500]}\n",
		"a ban":      "  - require: [Gin, Milk]\n  - exclude: [Gin, Vodka]\n",
		"a pair":     "  - require: [Gin, Vodka]\n  - never: [Gin, Vodka]\n",
		"too little": "  - amount: {of: \"*\", max: 100}\n",
		"how many":   "  - require: [Gin, Vodka, Milk, Campari, Absinthe, Egg, Brandy]\n",
	} {
		file := smallCocktails(t)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		law := strings.Replace(string(text), "sparsity: recipes", "sparsity: {uniform: [2, 5]}", 1)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "bar.yaml"), []byte(law+"constraints:\n"+rules), 0o666); err != nil {
			t.Fatal(err)
		}
		c := serving(t, file)
		s := c.until(name, func(s *State) bool { return s.Phase == "faulty" })
		taken := 0
		for k, way := range s.Fault.Fixes {
			if !way.Writable {
				t.Logf("%s: %q is for a person to write", name, way.Text)
				continue
			}
			taken++
			c.must(Request{Action: "way", Rule: k})
			after := c.until(way.Text, func(s *State) bool { return s.Phase != "reading" })
			if after.Phase != "drawing" {
				t.Errorf("%s: after %q: %+v\n%s", name, way.Text, after.Fault, c.session.history.currentStep().Text)
			}
			c.must(Request{Action: "back", Step: 1})
			c.until("the conflict", func(s *State) bool { return s.Phase == "faulty" })
		}
		if taken == 0 {
			t.Errorf("%s: no way out can be taken of %+v", name, s.Fault)
		}
	}
}
