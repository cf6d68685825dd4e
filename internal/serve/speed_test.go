package serve

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kir/internal/testonly/testmode"
)

// TestFirstDraws measures how long it takes from a click to draws that the page is
// told of. How long it may take is held to where KIR_SPEED is set, as on a machine
// that has nothing else to do: 300 ms on the cocktails, 1 s on the fragrance.
func TestFirstDraws(t *testing.T) {
	for _, c := range []struct {
		name   string
		file   string
		clicks []Request
		most   time.Duration
	}{
		{"cocktails", cocktails(t), []Request{{Action: "pin", Ingredient: "Gin"}, {Action: "ban", Ingredient: "Lemon juice"}, {Action: "weight", Property: "taste", Weight: 2}, {Action: "dose", Ingredient: "Gin", Min: "30%"}, {Action: "back", Step: 1}}, 300 * time.Millisecond},
		{"fragrance", copied(t, "fragrance/problem.yaml", "fragrance/ingredients.csv"), []Request{{Action: "weight", Property: "cost", Weight: 3}, {Action: "group", Attribute: "family", Value: "citrus", Min: "20%", Max: "40%"}, {Action: "back", Step: 1}}, time.Second},
	} {
		if !testmode.Enabled() && c.name == "fragrance" {
			continue // minutes, with the race detector
		}
		p := serving(t, c.file)
		p.drawn()
		var took []time.Duration
		largest := 0
		for _, click := range c.clicks {
			before := p.session.history.Current
			begun := time.Now()
			p.must(click)
			for step := p.session.history.Current; ; time.Sleep(time.Millisecond) {
				p.session.hub.mu.Lock()
				m := string(p.session.hub.latestMessages["draws"].data)
				p.session.hub.mu.Unlock()
				if strings.HasPrefix(m, fmt.Sprintf(`{"step":%d,`, step)) && step != before && !strings.Contains(m, `"made":0,`) {
					largest = max(largest, len(m))
					break
				}
				if time.Since(begun) > 2*time.Minute {
					t.Fatalf("%s: no draws after %+v: %.200s", c.name, click, m)
				}
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		t.Logf("%s: from a click to the first draws on the page %v; the largest message has %d bytes", c.name, took, largest)
		if middle := took[len(took)/2]; os.Getenv("KIR_SPEED") != "" && middle > c.most {
			t.Errorf("%s: %v, more than %v", c.name, middle, c.most)
		}
	}
}
