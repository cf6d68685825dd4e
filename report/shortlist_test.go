package report

import (
	"fmt"
	"testing"
)

// What stands among the best is not shown again, and keeps its number.
func TestShortlistsShowOnce(t *testing.T) {
	m := &Model{Properties: []Property{{Weight: 1}}}
	for k := range 12 {
		m.Best = append(m.Best, Best{Chain: k % 3, Draw: k})
	}
	m.Diverse = []Best{m.Best[0], {Chain: 1, Draw: 99}, m.Best[2], m.Best[8], {Chain: 0, Draw: 77}}
	places := func(list []Placed) string {
		var all []int
		for _, p := range list {
			all = append(all, p.Place)
		}
		return fmt.Sprint(all)
	}
	if best, various := m.Shortlists(6, 6); places(best) != "[0 1 2 3 4 5]" || places(various) != "[1 3 4]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
	if best, various := m.Shortlists(10, 1); places(best) != "[0 1 2 3 4 5 6 7 8 9]" || places(various) != "[1]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
	m.Properties = nil // nothing counts, so nothing is best
	if best, various := m.Shortlists(6, 6); len(best) != 0 || places(various) != "[0 1 2 3 4]" {
		t.Errorf("%s and %s", places(best), places(various))
	}
}
