package view

import (
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// shortlistColours returns a map from each ingredient of the shortlist, and of the best known recipe
// of the report, to its colour in figures.
func shortlistColours(m *report.Model, list []report.Best) map[string]figure.Paint {
	var recipes []map[string]int
	for _, b := range list {
		recipes = append(recipes, b.Recipe)
	}
	if m.BestKnown != nil {
		recipes = append(recipes, m.BestKnown.Recipe)
	}
	return figure.Colours(recipes)
}

// Heights of the bar of a composition, which is 290 wide: in a file of its own the bar has texts, on
// the page it stands above the list of ingredients.
const tallBar, slimBar = 40.0, 12.0

// compositionFigure returns a figure of an entry of the shortlist as a stacked bar with texts. The
// key of the colours appears in the file of the figure.
func compositionFigure(m *report.Model, name, title string, b *report.Best, colours map[string]figure.Paint) *figure.Figure {
	if m.HasWeights() {
		title += ", score " + number.Score(b.Score, 1)
	}
	return barFigure(m, name, title, b.Parts(), colours, tallBar)
}

// barFigure returns a figure of a recipe as a stacked bar of the given height.
func barFigure(m *report.Model, name, title string, parts []report.Part, colours map[string]figure.Paint, height float64) *figure.Figure {
	const width = 290.0
	f := &figure.Figure{Name: name, Title: title, Width: width, Height: height}
	var said []string
	var slices []figure.Slice
	shares := partShareTexts(parts, m.Problem.Total)
	for k, p := range parts {
		share := shares[k]
		slices = append(slices, figure.Slice{Name: p.Ingredient, Share: share, Size: float64(p.Amount)})
		said = append(said, p.Ingredient+" "+share)
		f.KeyOf(share+" "+p.Ingredient, colours[p.Ingredient])
	}
	f.Stack(0, 0, width, height, slices, colours)
	f.Text = strings.Join(said, ", ") + "."
	return f
}

// partShareTexts returns the amounts of a recipe's ingredients as texts in percent. The parameter
// total is the number of units of the recipe.
func partShareTexts(parts []report.Part, total int) []string {
	units := make([]int, len(parts))
	for k, p := range parts {
		units[k] = p.Amount
	}
	return number.Shares(units, total)
}
