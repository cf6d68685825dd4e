package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/terminal"
)

// maxListedChangesPerKind is the largest number of changed statistics of each kind that a
// comparison of two runs lists.
const maxListedChangesPerKind = 12

// Difference writes the comparison of two runs as text.
func Difference(w io.Writer, d *report.Difference, style terminal.Style) error {
	p := terminal.NewPrinter(w, style)
	p.Line("A  %s", terminal.EscapeControls(d.A))
	p.Line("B  %s", terminal.EscapeControls(d.B))
	p.Heading("Different questions")
	if d.ProblemDiff == "" {
		p.Line("  nothing")
	}
	for line := range strings.Lines(d.ProblemDiff) {
		p.Line("  %s", terminal.EscapeControls(strings.TrimRight(line, "\r\n")))
	}
	p.Heading("The shortlists: %d stayed, %d went, %d came", len(d.Stayed), len(d.OnlyInA), len(d.OnlyInB))
	for _, s := range d.Stayed {
		scores := number.Scores(float64(s.A.Score), float64(s.B.Score))
		p.WrappedHanging(2, fmt.Sprintf("= A %d, B %d  %s → %s  %s", s.A.Rank, s.B.Rank, scores[0], scores[1], recipeChangesText(s.A, &s.B)))
	}
	for _, l := range d.OnlyInA {
		p.WrappedHanging(2, fmt.Sprintf("- A %d  %s  %s", l.Rank, number.Score(float64(l.Score), 1), recipeChangesText(l, nil)))
	}
	for _, l := range d.OnlyInB {
		p.WrappedHanging(2, fmt.Sprintf("+ B %d  %s  %s", l.Rank, number.Score(float64(l.Score), 1), recipeChangesText(l, nil)))
	}
	p.Heading("Changed by more than chance (%s compared; at most one false alarm in %.0f comparisons)", number.CountWithNoun(len(d.Figures), "number"), 1/d.FalseAlarm)
	var sure []report.FigureChange
	for _, m := range d.Figures {
		if m.Sure {
			sure = append(sure, m)
		}
	}
	if len(sure) == 0 {
		p.Line("  nothing")
	}
	for _, kind := range []struct{ name, title string }{
		{"score", "the score"}, {"mean", "means over the draws"}, {"n", "draws with n ingredients"}, {"used", "how often an ingredient is used"}, {"amount", "units of it, where it is used"}, {"set", "how often a condition has a value"},
	} {
		of := slices.DeleteFunc(slices.Clone(sure), func(m report.FigureChange) bool { return m.Kind != kind.name })
		if len(of) == 0 {
			continue
		}
		t := terminal.NewTable(1, kind.title, "A", "±", "B", "±", "B − A", "±")
		t.SetMaxWidth(0, maxNameLength)
		for _, m := range of[:min(len(of), maxListedChangesPerKind)] {
			t.Row(m.Of, number.ThreeFigures(float64(m.A)), number.Error(float64(m.SEA)), number.ThreeFigures(float64(m.B)), number.Error(float64(m.SEB)), number.ThreeFigures(float64(m.B-m.A)), number.Error(m.SE()))
		}
		p.Line("")
		p.Table(t)
		if more := len(of) - maxListedChangesPerKind; more > 0 {
			p.Line("and %d more: see --json", more)
		}
	}
	if len(d.Notes) > 0 {
		p.Line("")
	}
	for _, note := range d.Notes {
		p.WrappedHanging(0, note)
	}
	return p.Err
}

// recipeChangesText lists the ingredients of an entry, in units, and its conditions. Where the
// entry other has a different amount or value, an arrow and the amount or value of other follow.
// The parameter other may be nil.
func recipeChangesText(e report.ShortlistEntry, other *report.ShortlistEntry) string {
	var texts []string
	for _, part := range (report.Best{Recipe: e.Recipe}).Parts() {
		text := fmt.Sprintf("%s %d", terminal.EscapeControls(shortenName(part.Ingredient)), part.Amount)
		if other != nil && other.Recipe[part.Ingredient] != part.Amount {
			text += fmt.Sprintf(" → %d", other.Recipe[part.Ingredient])
		}
		texts = append(texts, text)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Conditions)) {
		text := terminal.EscapeControls(shortenName(name) + " " + report.Condition{}.Text(e.Conditions[name]))
		if other != nil && other.Conditions[name] != e.Conditions[name] && other.Conditions[name] != nil {
			text += " → " + terminal.EscapeControls(report.Condition{}.Text(other.Conditions[name]))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
