package report

import (
	"fmt"
	"io"
	"strings"

	"kir/forest"
)

// A printer writes text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) table(t *Table) {
	if p.err == nil {
		p.err = t.Write(p.w)
	}
}

// wrapped writes text from a file's world in lines that begin with spaces.
func (p *printer) wrapped(indent int, text string) {
	for _, l := range wrap(Plain(text), textWidth-indent) {
		p.line("%*s%s", indent, "", l)
	}
}

// hanging is wrapped with all lines but the first set further in.
func (p *printer) hanging(indent int, text string) {
	for k, l := range wrap(Plain(text), textWidth-indent-2) {
		if k == 1 {
			indent += 2
		}
		p.line("%*s%s", indent, "", l)
	}
}

// command writes a command line of [command] over several lines, which are broken
// before flags only: its other words may be quoted.
func (p *printer) command(text string) {
	text = Plain(text)
	line := "  "
	if at := strings.LastIndex(text, " --kernel "); at > 0 {
		line += text[:at]
		text = text[at:]
		for _, flag := range strings.Split(text, " --")[1:] {
			flag = " --" + flag
			if stringWidth(line)+stringWidth(flag)+2 > textWidth {
				p.line("%s \\", line)
				line = "   "
			}
			line += flag
		}
	} else {
		line += text
	}
	p.line("%s", line)
}

// heading writes an empty line and a heading.
func (p *printer) heading(format string, args ...any) {
	p.line("")
	p.line(format, args...)
}

func (p *printer) properties(properties []Property) {
	if len(properties) == 0 {
		return
	}
	p.heading("Properties")
	for _, w := range properties {
		p.hanging(2, fmt.Sprintf("%s: %s, weight %g", w.Name, w.About, w.Weight))
		if w.Forest != nil {
			for _, l := range qualityLines(w.Forest.Trees, w.Forest.Rows, w.Forest.Quality) {
				p.hanging(4, l)
			}
		}
	}
}

func (p *printer) warnings(warnings []string) {
	if len(warnings) == 0 {
		return
	}
	p.heading("Warnings")
	for _, w := range warnings {
		for k, l := range wrap(Plain(w), 76) {
			if k == 0 {
				p.line("  ! %s", l)
			} else {
				p.line("    %s", l)
			}
		}
	}
}

// qualityLines says how well a forest does out of bag, beside guessing.
func qualityLines(trees, rows int, q forest.Quality) []string {
	lines := []string{fmt.Sprintf("forest of %d trees on %d recipes; out of bag, on %d of them:", trees, rows, q.Rows)}
	switch {
	case q.Classes != nil:
		c := q.Classes
		lines = append(lines,
			fmt.Sprintf("accuracy %.0f ± %.0f %% (always %s: %.0f %%), log loss %.2f ± %.2f (class shares: %.2f)",
				100*c.Accuracy, 100*c.AccuracySE, c.Majority, 100*c.MajorityAccuracy, c.LogLoss, c.LogLossSE, c.PriorLogLoss))
	case q.Numbers != nil:
		n := q.Numbers
		lines = append(lines,
			fmt.Sprintf("R² %.2f, RMSE %.3g (always the mean: %.3g)", n.R2, n.RMSE, n.PriorRMSE),
			fmt.Sprintf("CRPS %.3g ± %.2g (all labels: %.3g); intervals of 50 %% and 90 %% hold %.0f %% and %.0f %%",
				n.CRPS, n.CRPSSE, n.PriorCRPS, 100*n.Coverage50, 100*n.Coverage90))
	default:
		lines = []string{fmt.Sprintf("forest of %d trees on %d recipes; no tree left a recipe out, so its quality is unknown", trees, rows)}
	}
	return lines
}

// wrap breaks text into lines of at most width columns: at spaces, or within
// words that are longer than a line.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for stringWidth(word) > width {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			at := fits(word, width)
			lines = append(lines, word[:at])
			word = word[at:]
		}
		if line != "" && stringWidth(line)+1+stringWidth(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// fits returns how many bytes of a word fit a width of at least two columns.
func fits(word string, width int) int {
	for at, r := range word {
		if width -= stringWidth(string(r)); width < 0 {
			return at
		}
	}
	return len(word)
}
