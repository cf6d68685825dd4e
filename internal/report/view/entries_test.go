package view

import (
	"strings"
	"testing"

	"kir/internal/report"
	"kir/internal/search"
	"kir/internal/terminal"
)

// However long names and numbers are, a line of a recipe ends where the terminal does: the bar
// takes what is left.
func TestEntryLines(t *testing.T) {
	shortest, longest := terminal.MaxColumns, 0
	for _, total := range []int{100, 1e5, 1e6, 1e7, 1e8, 1e9} {
		m := &report.Model{}
		m.Problem.Total = total
		name := strings.Repeat("x", 26)
		best := report.Best{Recipe: map[string]int{name: total}, Ranges: map[string]search.Range{name: {Low: 1, High: total}}}
		var b strings.Builder
		writeEntries(m, terminal.NewPrinter(&b, terminal.Style{}), []report.Best{best})
		for line := range strings.Lines(b.String()) {
			width := terminal.Width(strings.TrimRight(line, "\n"))
			if width > terminal.MaxColumns {
				t.Errorf("of %d units, a line is %d wide: %q", total, width, line)
			}
			if strings.Contains(line, name) && strings.Contains(line, "█") {
				longest = max(longest, width)
				shortest = min(shortest, strings.Count(line, "█"))
			}
		}
	}
	if longest != terminal.MaxColumns || shortest >= 24 {
		t.Errorf("the longest line is %d wide, and the shortest bar %d", longest, shortest)
	}
}

// A name that is longer than its column is cut, and one that is longer than a line is
// broken, and then is whole and has no bar.
func TestLongNames(t *testing.T) {
	for length, lines := range map[int]int{10: 1, 30: 1, 31: 1, 69: 1, 70: 3, 90: 3, 91: 4} {
		m := &report.Model{}
		m.Problem.Total = 100
		var b strings.Builder
		writeEntries(m, terminal.NewPrinter(&b, terminal.Style{}), []report.Best{{Recipe: map[string]int{strings.Repeat("x", length): 100}}})
		bar, shown := 24, min(length, 30)
		switch {
		case lines > 1:
			bar, shown = 0, length
		case length > 30:
			shown = 29
		}
		if got := strings.Count(b.String(), "█"); got != bar {
			t.Errorf("of a name of %d letters the bar is %d long, not %d", length, got, bar)
		}
		if got := strings.Count(b.String(), "x"); got != shown || strings.Contains(b.String(), "…") != (shown < length) {
			t.Errorf("of a name of %d letters %d are shown, not %d", length, got, shown)
		}
		if got := strings.Count(b.String(), "\n") - 2; got != lines {
			t.Errorf("a name of %d letters takes %d lines, not %d", length, got, lines)
		}
	}
}
