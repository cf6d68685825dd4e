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
	p.Heading("Changed settings")
	if len(d.Settings) == 0 {
		p.Line("  none")
	}
	for _, s := range d.Settings {
		p.WrappedHanging(2, settingChangeText(s))
	}
	p.Heading("Shortlists: %s in both (=), %d only in A (-), %d only in B (+)", number.CountWithNoun(len(d.Stayed), "set")+" of ingredients", len(d.OnlyInA), len(d.OnlyInB))
	for _, s := range d.Stayed {
		scores := number.Scores(float64(s.A.Score), float64(s.B.Score))
		p.WrappedHanging(2, fmt.Sprintf("= A %d, B %d  score %s: %s", s.A.Rank, s.B.Rank, changeText(scores[0], scores[1]), recipeChangesText(s.A, &s.B, d.TotalA, d.TotalB)))
	}
	for _, l := range d.OnlyInA {
		p.WrappedHanging(2, fmt.Sprintf("- A %d  score %s: %s", l.Rank, number.Score(float64(l.Score), 1), recipeChangesText(l, nil, d.TotalA, 0)))
	}
	for _, l := range d.OnlyInB {
		p.WrappedHanging(2, fmt.Sprintf("+ B %d  score %s: %s", l.Rank, number.Score(float64(l.Score), 1), recipeChangesText(l, nil, d.TotalB, 0)))
	}
	p.Heading("Averages over the draws that changed by more than chance (%s compared)", number.Thousands(len(d.Figures)))
	var sure []report.FigureChange
	for _, m := range d.Figures {
		if m.Sure {
			sure = append(sure, m)
		}
	}
	if len(sure) == 0 {
		p.Line("  none")
	} else {
		p.Line("Without a true change, %.0f of %.0f such comparisons list none. %s", 1/d.FalseAlarm-1, 1/d.FalseAlarm, standardErrorText)
	}
	for _, kind := range []struct{ name, title string }{
		{"score", "the score"}, {"mean", "means over the draws"}, {"n", "share of draws with so many ingredients"}, {"used", "share of draws that use it"}, {"amount", "mean amount where used, %"}, {"set", "share of draws with the condition"},
	} {
		of := slices.DeleteFunc(slices.Clone(sure), func(m report.FigureChange) bool { return m.Kind != kind.name })
		if len(of) == 0 {
			continue
		}
		t := terminal.NewTable(1, kind.title, "A", "±", "B", "±", "B − A", "±")
		t.SetMaxWidth(0, maxNameLength)
		for _, m := range of[:min(len(of), maxListedChangesPerKind)] {
			if m.Kind == "amount" {
				m = inPercent(m, d)
			}
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

// settingChangeText says how a setting of the problem changed.
func settingChangeText(s report.SettingChange) string {
	switch {
	case s.A == "":
		return terminal.EscapeControls(s.Setting + ": added " + s.B)
	case s.B == "":
		return terminal.EscapeControls(s.Setting + ": removed " + s.A)
	}
	return terminal.EscapeControls(s.Setting + ": " + s.A + " → " + s.B)
}

// changeText writes a value before and after a change, or one value if they are written alike.
func changeText(before, after string) string {
	if before == after {
		return before
	}
	return before + " → " + after
}

// inPercent returns the change of a mean amount, in units, as percentages of the totals.
func inPercent(m report.FigureChange, d *report.Difference) report.FigureChange {
	a, b := report.Number(d.TotalA)/100, report.Number(d.TotalB)/100 // units of a percent
	m.A, m.SEA, m.B, m.SEB = m.A/a, m.SEA/a, m.B/b, m.SEB/b
	return m
}

// recipeChangesText lists the ingredients of an entry, in percent, and its conditions. Where the
// entry other has a different amount or value, an arrow and the amount or value of other follow.
// The parameter other may be nil. The recipes have total and otherTotal units.
func recipeChangesText(e report.ShortlistEntry, other *report.ShortlistEntry, total, otherTotal int) string {
	var texts []string
	for _, part := range (report.Best{Recipe: e.Recipe}).Parts() {
		share := number.Share(part.Amount, total)
		if other != nil {
			share = changeText(share, number.Share(other.Recipe[part.Ingredient], otherTotal))
		}
		text := terminal.EscapeControls(shortenName(part.Ingredient)) + " " + share
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
