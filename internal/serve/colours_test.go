package serve

import (
	"encoding/json"
	"maps"
	"testing"

	"kir/internal/report/figure"
)

// TestColours: an ingredient that has a colour keeps it from list to list and step to
// step, and no other has it. Greys are no colours.
func TestColours(t *testing.T) {
	c := serving(t, withSmallForests(t, copied(t, "cocktails/problem.yaml", "cocktails/recipes.csv")))
	before := make(map[string]int)
	for step, r := range []Request{{}, {Action: "ban", Ingredient: "Gin"}, {Action: "pin", Ingredient: "Milk"}, {Action: "back", Step: 1}, {Action: "ban", Ingredient: "Champagne"}} {
		if r.Action != "" {
			c.must(r)
		}
		c.drawn()
		c.session.mu.Lock()
		w := c.session.currentStepWork
		c.session.mu.Unlock()
		for _, lines := range []int64{50, 500} {
			if err := w.quickSearch(t.Context(), w.problem, lines, 0); err != nil {
				t.Fatal(err)
			}
			l := w.shortlistWithColours()
			for _, b := range l.Entries {
				for name := range b.Recipe {
					if _, ok := l.Colours[name]; !ok {
						t.Errorf("change %d: %s has no colour", step, name)
					}
				}
			}
			of := make(map[int]string)
			for name, colour := range l.Colours {
				if was, ok := before[name]; ok && was != colour {
					t.Errorf("change %d: %s had the colour %d and has %d", step, name, was, colour)
				}
				if other, taken := of[colour]; taken && colour < figure.Grey {
					t.Errorf("change %d: %s and %s have the colour %d", step, name, other, colour)
				}
				of[colour] = name
			}
			if len(of) < 9 {
				t.Errorf("change %d: the colours are %v", step, l.Colours)
			}
			maps.Copy(before, l.Colours)
		}
	}
	var told List
	if err := json.Unmarshal([]byte(c.lastTold("list")), &told); err != nil || len(told.Colours) == 0 {
		t.Errorf("the colours are %v, %v", told.Colours, err)
	}
}
