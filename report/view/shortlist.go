package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kir/report"
	"kir/report/number"
	"kir/report/terminal"
)

// textBest and textDiverse are how many compositions the text shows, and longBest
// and longDiverse how many of those that have many parts.
const (
	textBest, textDiverse = 10, 5
	longBest, longDiverse = 5, 3
)

func writeShortlists(m *report.Model, p *terminal.Printer) {
	mostBest, mostDiverse := textBest, textDiverse
	if slices.ContainsFunc(slices.Concat(m.Best[:min(len(m.Best), longBest)], m.Diverse[:min(len(m.Diverse), longDiverse)]),
		func(b report.Best) bool { return len(b.Recipe) > longParts }) {
		mostBest, mostDiverse = longBest, longDiverse
	}
	best, various := m.Shortlists(mostBest, mostDiverse)
	writeLists(m, p, best, various)
	if more := len(m.Best) - len(best); more > 0 && m.Weighs() {
		p.Line("")
		p.Line("%s more: kir show RUN --best 20, --diverse 20, --json", number.Thousands(more))
	}
}

// longParts is above how many parts a composition is long.
const longParts = 6

// Shortlist prints the shortlist of a model for a person.
func Shortlist(w io.Writer, s report.Shortlist, m *report.Model, style terminal.Style) error {
	var b strings.Builder
	p := terminal.NewPrinter(&b, style)
	placed := func(list []report.Best) []report.Placed {
		var numbered []report.Placed
		for k, b := range list {
			numbered = append(numbered, report.Placed{Best: b, Place: k})
		}
		return numbered
	}
	writeLists(m, p, placed(s.Best), placed(s.Diverse))
	if p.Err != nil {
		return p.Err
	}
	_, err := io.WriteString(w, strings.TrimLeft(b.String(), "\n"))
	return err
}

// leavesOut says whether a list leaves out compositions that stand before those of
// it that are shown.
func leavesOut(list []report.Placed) bool {
	return len(list) > 0 && list[len(list)-1].Place >= len(list)
}

// writeLists prints lists of compositions.
func writeLists(m *report.Model, p *terminal.Printer, best, various []report.Placed) {
	kind := "compositions"
	if m.Problem.Recipes > 0 {
		kind = "new compositions (sets of ingredients that no known recipe has)"
	}
	if m.Problem.Recipes > 0 && len(m.Best) == 0 && len(m.Diverse) == 0 {
		p.Heading("Every set of ingredients that was drawn is in the book.")
		return
	}
	if len(best) > 0 && m.Weighs() {
		p.Heading("%s", p.Bold("Best "+kind+", by score"))
		if m.Sampler.Kernel == "tempered" {
			p.Line("What a replica met on its way is among them, so that not all are draws.")
		}
		writeCompositions(m, p, best)
	}
	if len(various) > 0 {
		title := "Most diverse " + kind
		if m.Weighs() {
			title = "Diverse " + kind
		}
		p.Heading("%s", p.Bold(title))
		if leavesOut(various) {
			p.Line("Those shown above are left out, so that numbers are missing.")
		}
		writeCompositions(m, p, various)
	}
}

const (
	// mostParts is how many parts of a composition the text lists.
	mostParts = 12
	// mostScores is how wide the columns of the properties may be together;
	// what is wider is listed below each composition.
	mostScores = 34
)

// writeCompositions prints compositions as a table.
func writeCompositions(m *report.Model, p *terminal.Printer, list []report.Placed) {
	head := " #"
	scored := m.Weighs()
	scores := len("score")
	var columns []int // of the properties' scores
	if scored {
		for _, b := range list {
			scores = max(scores, len(number.Three(b.Score)))
		}
		head += fmt.Sprintf("  %*s", scores, "score")
		wide := 0
		for _, w := range m.Properties {
			width := terminal.Width(terminal.Plain(w.Name))
			for _, b := range list {
				width = max(width, len(number.Score(b.Scores[w.Name], w.Weight)))
			}
			columns = append(columns, width)
			wide += 2 + width
		}
		if wide > mostScores || !m.ScoresEach() {
			columns = nil
		}
		for k, w := range columns {
			head += "  " + strings.Repeat(" ", w-terminal.Width(terminal.Plain(m.Properties[k].Name))) + terminal.Plain(m.Properties[k].Name)
		}
	}
	width := len(number.Share(m.Problem.Total, m.Problem.Total)) - len(" %")
	left := terminal.Width(head) + 2
	names := 8
	for _, b := range list {
		for name := range b.Recipe {
			names = max(names, terminal.Width(terminal.Plain(name)))
		}
	}
	names = min(names, 30, terminal.Columns-left-width-2-10)
	bars := min(24, terminal.Columns-left-width-2-names-2)
	p.Line("%s  %*s  %s", head, width, "%", "ingredient")
	indent := strings.Repeat(" ", left)
	for k, b := range list {
		line := fmt.Sprintf("%2d", b.Place+1)
		if scored {
			line += fmt.Sprintf("  %*s", scores, number.Three(b.Score))
			for q, w := range columns {
				line += fmt.Sprintf("  %*s", w, number.Score(b.Scores[m.Properties[q].Name], m.Properties[q].Weight))
			}
		}
		line = p.Bold(line) + strings.Repeat(" ", max(0, left-terminal.Width(line)))
		parts := b.Parts()
		rest, restUnits := 0, 0
		if len(parts) > mostParts+1 {
			for _, part := range parts[mostParts:] {
				rest++
				restUnits += part.Amount
			}
			parts = parts[:mostParts]
		}
		percents := func(amount int) string { return strings.TrimSuffix(number.Share(amount, m.Problem.Total), " %") }
		for _, part := range parts {
			p.Line("%s%*s  %s  %s", line, width, percents(part.Amount), terminal.Pad(terminal.Plain(part.Ingredient), names),
				p.Bar(float64(part.Amount)/float64(m.Problem.Total), bars))
			line = indent
		}
		if rest > 0 {
			p.Line("%s%*s  in %d more ingredients: see --json", indent, width, percents(restUnits), rest)
		}
		if scored && columns == nil && m.ScoresEach() {
			var each []string
			for _, w := range m.Properties {
				each = append(each, w.Name+" "+number.Score(b.Scores[w.Name], w.Weight))
			}
			p.Wrapped(left, strings.Join(each, ", "))
		}
		if len(b.Nearest) > 0 {
			var near []string
			for _, n := range b.Nearest {
				near = append(near, fmt.Sprintf("%s %.2f (%s)", n.Recipe, float64(n.Overlap), strings.Join(shared(b.Best, n), ", ")))
			}
			p.Wrapped(left, "nearest: "+strings.Join(near, "; "))
		}
		for _, s := range b.Slack {
			p.Wrapped(left, m.Problem.Rules[s.Rule]+": "+slackText(s))
		}
		if k < len(list)-1 {
			p.Line("")
		}
	}
}
