package view

import (
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// shortlistColours returns a map from each ingredient of the shortlist to its colour in figures.
func shortlistColours(list []report.Best) map[string]figure.Paint {
	var recipes []map[string]int
	for _, b := range list {
		recipes = append(recipes, b.Recipe)
	}
	return figure.Colours(recipes)
}

// compositionFigure returns a figure of a composition as a stacked bar. The key of the colours
// appears only in a separate file of the figure, since the page lists the ingredients with their
// colours.
func compositionFigure(m *report.Model, name, title string, b *report.Best, colours map[string]figure.Paint) *figure.Figure {
	const width, height = 290.0, 40.0
	f := &figure.Figure{Name: name, Title: title, Width: width, Height: height}
	if m.HasWeights() {
		f.Title += ", score " + number.Score(b.Score, 1)
	}
	var said []string
	var parts []figure.Slice
	shares := partShareTexts(b.Parts(), m.Problem.Total)
	for k, p := range b.Parts() {
		share := shares[k]
		parts = append(parts, figure.Slice{Name: p.Ingredient, Share: share, Size: float64(p.Amount)})
		said = append(said, p.Ingredient+" "+share)
		f.KeyOf(share+" "+p.Ingredient, colours[p.Ingredient])
	}
	f.Stack(0, 0, width, height, parts, colours)
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
