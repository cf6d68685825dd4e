package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// maxHeatRows is the largest number of ingredients in the heat map of the shortlist.
const maxHeatRows = 40

// knownEntry names the best known recipe among the recipes that a page highlights together.
const knownEntry = "known"

// entryName names an entry of the shortlist, whose index is place, among the recipes that a page
// highlights together.
func entryName(place int) string { return fmt.Sprint(place + 1) }

// A heatLevel is a range of shares that a heat map shows by one shade.
type heatLevel struct {
	from    float64 // least share of a recipe
	opacity float64
	text    string
}

// heatLevels returns the shades of a heat map, from the lightest to the darkest.
func heatLevels() []heatLevel {
	return []heatLevel{{0, 0.15, "under 2 %"}, {0.02, 0.35, "2–5 %"}, {0.05, 0.55, "5–15 %"}, {0.15, 0.78, "15–40 %"}, {0.40, 1, "over 40 %"}}
}

// A heatColumn is a recipe in a heat map.
type heatColumn struct {
	entry  string         // name of the recipe among those that a page highlights together
	number int            // number of the suggestion; 0 for a known recipe
	title  string         // description of the recipe
	recipe map[string]int // maps the name of an ingredient to its amount in units
	left   float64        // position of the left edge
	width  float64
}

// heatMapFigure shows how much of each ingredient (rows) the displayed suggestions (columns) have:
// the darker a cell, the larger the share. If knownRecipe is not nil, the first column shows this
// recipe, whose name is knownName. The result is nil unless there are two columns.
func heatMapFigure(m *report.Model, knownName string, knownRecipe map[string]int) *figure.Figure {
	columns := newHeatColumns(m, knownName, knownRecipe)
	if len(columns) < 2 {
		return nil
	}
	all := heatRows(columns)
	rows := all[:min(len(all), maxHeatRows)]
	const top, rowHeight, right, maxLeft = 20.0, 19.0, figureWidth - 8, 128.0
	left := 0.0
	for _, name := range rows {
		left = max(left, figure.TextWidth(name, figure.SmallSize)+8)
	}
	left = min(left, maxLeft)
	placeHeatColumns(columns, left, right)

	f := &figure.Figure{Name: "heatmap", Title: "Which suggestion uses what", Width: figureWidth, Height: top + float64(rowHeight*float64(len(rows))) + 4}
	f.Text = fmt.Sprintf("Heat map of the shares of %s in %s; the darker, the larger. Most used: %s.",
		number.CountWithNoun(len(rows), "ingredient"), number.CountWithNoun(len(columns), "recipe"), strings.Join(heatUseTexts(columns, rows[:min(len(rows), 5)]), ", "))
	if len(rows) < len(all) {
		f.Title += fmt.Sprintf(": the %d main ingredients of %d", len(rows), len(all))
	}
	for r, name := range rows {
		y := top + float64(rowHeight*float64(r))
		f.Write(left-6, y+14, figure.SmallSize, figure.End, figure.Ink, figure.Clip(name, left-6, figure.SmallSize))
		f.Line(left, y+rowHeight, right, y+rowHeight, 0.5, figure.Line)
	}
	last := columns[len(columns)-1]
	every := figure.TickStep(last.number, max(1, int(float64(last.number)*last.width/22)))
	for k := range columns {
		c := &columns[k]
		head := fmt.Sprint(c.number)
		if c.number == 0 {
			head = "known"
		}
		if c.number%every == 0 {
			f.Write(c.left+float64(c.width/2), top-6, figure.SmallSize, figure.Middle, figure.Soft, head)
		}
		b := report.Best{Recipe: c.recipe}
		f.Group(c.entry, c.title+": "+recipeText(b.Parts(), m.Problem.Total), func() {
			for r, name := range rows {
				if amount := c.recipe[name]; amount > 0 {
					f.FillShade(c.left+0.5, top+float64(rowHeight*float64(r))+0.5, c.width-1, rowHeight-1, heatOpacity(float64(amount)/float64(m.Problem.Total)), figure.Accent)
				}
			}
		})
	}
	for _, l := range heatLevels() {
		f.Key(l.text, func(f *figure.Figure, x, y float64) { f.FillShade(x, y, 20, 10, l.opacity, figure.Accent) })
	}
	f.PlaceKeys()
	return f
}

// newHeatColumns returns the columns of a heat map: the known recipe, if there is one, and the
// displayed suggestions.
func newHeatColumns(m *report.Model, knownName string, knownRecipe map[string]int) (columns []heatColumn) {
	if knownRecipe != nil {
		columns = append(columns, heatColumn{entry: knownEntry, title: knownName, recipe: knownRecipe})
	}
	for k, b := range m.Best[:min(len(m.Best), maxPageEntries)] {
		columns = append(columns, heatColumn{entry: entryName(k), number: k + 1, title: fmt.Sprintf("Suggestion %d", k+1), recipe: b.Recipe})
	}
	return columns
}

// placeHeatColumns places the columns side by side between left and right. The column of a known
// recipe is wide enough for its head, and stands a little apart.
func placeHeatColumns(columns []heatColumn, left, right float64) {
	const knownWidth, gap, maxWidth = 38.0, 8.0, 38.0
	suggestions := len(columns)
	if columns[0].entry == knownEntry {
		columns[0].left, columns[0].width = left, knownWidth
		left += knownWidth + gap
		suggestions--
	}
	width := min((right-left)/float64(suggestions), maxWidth)
	for k := range suggestions {
		c := &columns[len(columns)-suggestions+k]
		c.left, c.width = left+float64(width*float64(k)), width
	}
}

// heatRows returns the names of the ingredients that recipes use, the largest sum of amounts first.
func heatRows(columns []heatColumn) []string {
	sums := make(map[string]int)
	for _, c := range columns {
		for name, amount := range c.recipe {
			sums[name] += amount
		}
	}
	return slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b))
	})
}

// heatUseTexts says in how many of the recipes each ingredient is.
func heatUseTexts(columns []heatColumn, ingredients []string) (texts []string) {
	for _, name := range ingredients {
		uses := 0
		for _, c := range columns {
			if c.recipe[name] > 0 {
				uses++
			}
		}
		texts = append(texts, fmt.Sprintf("%s in %d", name, uses))
	}
	return texts
}

// heatOpacity returns the opacity that shows a share of a recipe.
func heatOpacity(share float64) (opacity float64) {
	for _, l := range heatLevels() {
		if share >= l.from {
			opacity = l.opacity
		}
	}
	return opacity
}
