package view

import (
	"strings"
	"testing"

	"kir/report"
	"kir/report/terminal"
)

// However long names and numbers are, a line of a recipe ends where the terminal does: the bar
// takes what is left.
func TestEntryLines(t *testing.T) {
	shortest, longest := terminal.Columns, 0
	for _, total := range []int{100, 1e5, 1e6, 1e7, 1e8, 1e9} {
		m := &report.Model{}
		m.Problem.Total = total
		name := strings.Repeat("x", 26)
		best := report.Best{Recipe: map[string]int{name: total}, Ranges: map[string]report.Range{name: {Low: 1, High: total}}}
		var b strings.Builder
		writeEntries(m, terminal.NewPrinter(&b, terminal.Style{}), []report.Best{best})
		for line := range strings.Lines(b.String()) {
			width := terminal.Width(strings.TrimRight(line, "\n"))
			if width > terminal.Columns {
				t.Errorf("of %d units, a line is %d wide: %q", total, width, line)
			}
			if strings.Contains(line, name) && strings.Contains(line, "█") {
				longest = max(longest, width)
				shortest = min(shortest, strings.Count(line, "█"))
			}
		}
	}
	if longest != terminal.Columns || shortest >= 24 {
		t.Errorf("the longest line is %d wide, and the shortest bar %d", longest, shortest)
	}
}
