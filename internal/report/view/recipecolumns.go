package view

import (
	"fmt"
	"strings"

	"kir/internal/report"
	"kir/internal/terminal"
)

// recipeColumns has the widths of the columns in which the text report lists the ingredients of
// recipes: the amount, the share, the name, the range and a bar. All recipes of a report have the
// same widths.
type recipeColumns struct {
	total   int          // number of units of a recipe
	writer  amountWriter // writes the amounts
	amounts int          // width of the amounts in the unit of the known recipes; 0 if they have none
	shares  int          // width of the amounts in percent
	names   int          // width of the names
	ranges  int          // width of the ranges; 0 if there are none
}

// maxNameColumn is the largest width of the column of names.
const maxNameColumn = 30

// maxBarWidth is the width of a bar that stands for the whole recipe.
const maxBarWidth = 24

// newRecipeColumns returns the columns for the given entries of the shortlist and for the best known
// recipe of the report.
func newRecipeColumns(m *report.Model, list []report.Best) recipeColumns {
	c := recipeColumns{total: m.Problem.Total, writer: newAmountWriter(m.Problem), names: 10}
	see := func(b report.Best) {
		parts := b.Parts()
		for _, share := range partShareTexts(parts, c.total) {
			c.shares = max(c.shares, terminal.Width(share))
		}
		if c.writer.hasUnit() {
			for _, text := range c.writer.texts(parts) {
				c.amounts = max(c.amounts, terminal.Width(text))
			}
		}
		for name := range b.Recipe {
			c.names = max(c.names, terminal.Width(terminal.EscapeControls(name)))
		}
		for _, r := range b.Ranges {
			c.ranges = max(c.ranges, terminal.Width(rangeText(r, c.total)))
		}
	}
	for _, b := range list {
		see(b)
	}
	if m.BestKnown != nil {
		see(report.Best{Recipe: m.BestKnown.Recipe})
	}
	c.names = min(c.names, maxNameColumn)
	return c
}

// withoutRanges returns the columns without that of the ranges.
func (c recipeColumns) withoutRanges() recipeColumns {
	c.ranges = 0
	return c
}

// write writes the ingredients of a recipe, one to a line, the largest amount first. A name that is
// too long for its column continues below.
func (c recipeColumns) write(p *terminal.Printer, b report.Best) {
	parts := b.Parts()
	shares, amounts := partShareTexts(parts, c.total), c.writer.texts(parts)
	for k, part := range parts {
		line := "    "
		if c.amounts > 0 {
			line += fmt.Sprintf("%*s  ", c.amounts, amounts[k])
		}
		line += strings.Repeat(" ", max(0, c.shares-terminal.Width(shares[k]))) + shares[k] + "  "
		indent := terminal.Width(line)
		name := terminal.EscapeControls(part.Ingredient)
		lines := terminal.Wrap(name, terminal.MaxColumns-indent)
		if len(lines) > 1 {
			lines = terminal.Wrap(name, c.names) // the whole name, with the rest of the line beside it
		}
		line += terminal.Pad(lines[0], c.names)
		if c.ranges > 0 {
			within := ""
			if r, ok := b.Ranges[part.Ingredient]; ok {
				within = rangeText(r, c.total)
			}
			line += "  " + terminal.Pad(within, c.ranges)
		}
		if room := terminal.MaxColumns - terminal.Width(line) - 2; len(lines) == 1 && room >= 8 {
			line += "  " + p.Bar(float64(part.Amount)/float64(c.total), min(maxBarWidth, room))
		}
		p.Line("%s", strings.TrimRight(line, " "))
		for _, rest := range lines[1:] {
			p.Line("%*s%s", indent, "", rest)
		}
	}
}
