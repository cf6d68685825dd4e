package report

import (
	"math/rand/v2"
	"testing"

	"kir"
)

// compared returns a model of what a comparison looks at.
func compared(recipes []map[string]int, used ...Inclusion) *Model {
	m := &Model{Sampler: kir.Settings{Chains: 1, Draws: 1000}, Inclusion: used}
	for _, r := range recipes {
		m.Best = append(m.Best, Best{Recipe: r})
	}
	return m
}

// TestCompare: recipes are told apart by their ingredients, and what moved by the
// standard errors of both runs.
func TestCompare(t *testing.T) {
	a := compared([]map[string]int{{"Gin": 60, "Lime": 40}, {"Rum": 100}}, Inclusion{"Gin", 0.5, 0.01, 60, 1, 0, 0}, Inclusion{"Rum", 0.5, 0.05, 50, 1, 0, 0}, Inclusion{"Milk", 0.1, 0.01, 20, 1, 0, 0})
	b := compared([]map[string]int{{"Gin": 100}, {"Gin": 55, "Lime": 45}}, Inclusion{"Gin", 0.6, 0.01, 60, 1, 0, 0}, Inclusion{"Rum", 0.6, 0.05, 50, 1, 0, 0}, Inclusion{"Milk", 0, 0, UnknownNumber(), UnknownNumber(), 0, 0})
	a.Again.Problem, b.Again.Problem = "total: 1\n", "total: 2\n"
	d := Compare("a", a, "b", b)
	if len(d.Stayed) != 1 || d.Stayed[0].A.Rank != 1 || d.Stayed[0].B.Rank != 2 || len(d.Went) != 1 || d.Went[0].Rank != 2 || len(d.Came) != 1 || d.Came[0].Rank != 1 {
		t.Errorf("%+v", d)
	}
	sure := make(map[string]bool)
	for _, m := range d.Figures {
		if m.Kind == "used" {
			sure[m.Of] = m.Sure
		}
	}
	// z is 7.1, 1.4 and −9.6, the last beside three in a thousand draws.
	if !sure["Gin"] || sure["Rum"] || !sure["Milk"] {
		t.Error(sure)
	}
	if d.Asked != "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-total: 1\n+total: 2\n" {
		t.Errorf("%q", d.Asked)
	}
}

// TestCompareFalseAlarms: of 1,000 comparisons of figures that have not moved, one in
// twenty calls any of them sure. The bound is 4 standard errors above, which chance
// passes once in 30,000.
func TestCompareFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 7))
	alarms := 0
	for range 1000 {
		var a, b []Inclusion
		for k := range 100 {
			name := string(rune('A' + k))
			a = append(a, Inclusion{name, Number(0.5 + 0.01*rng.NormFloat64()), 0.01, UnknownNumber(), UnknownNumber(), 0, 0})
			b = append(b, Inclusion{name, Number(0.5 + 0.02*rng.NormFloat64()), 0.02, UnknownNumber(), UnknownNumber(), 0, 0})
		}
		for _, m := range Compare("a", compared(nil, a...), "b", compared(nil, b...)).Figures {
			if m.Sure {
				alarms++
				break
			}
		}
	}
	if alarms > 78 || alarms < 22 { // 50 ± 4·6.9
		t.Errorf("%d alarms", alarms)
	}
}
