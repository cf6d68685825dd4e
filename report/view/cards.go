package view

import (
	"fmt"
	"html/template"
	"slices"
	"unicode/utf8"

	"kir/report"
	"kir/report/figure"
)

// A card is a composition of the shortlist on the page.
type card struct {
	report.Placed
	Page    *pageView
	List    string        // its list in summary.json
	Bar     template.HTML // its figure
	Swatch  []swatch
	Columns bool // the parts are set in columns
	AtBound int  // how many rules leave no room
}

// A swatch is a part of a composition with its colour.
type swatch struct {
	report.Part
	Fill string
}

// SharedWith names the ingredients that the composition shares with a recipe.
func (c card) SharedWith(n report.Nearest) []string { return shared(c.Best, n) }

// manyParts is above how many parts a list of them is set in columns, and fewParts
// if it stands beside such a one.
const manyParts, fewParts = 12, 6

// more says whether the composition has more parts than that, with names that are
// short enough for two columns of them.
func (c card) more(parts int) bool {
	longest := 0
	for name := range c.Recipe {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return len(c.Recipe) > parts && longest <= 24
}

// cards returns a list of compositions as the page shows them.
func (v *pageView) cards(of []report.Placed, name string, colours map[string]figure.Paint) []card {
	var list []card
	for _, b := range of {
		c := card{Placed: b, Page: v, List: name}
		if f := v.figures[fmt.Sprintf("%s-%d", name, b.Place+1)]; f != nil {
			c.Bar = template.HTML(f.SVG())
		}
		for _, part := range b.Parts() {
			fill, _ := colours[part.Ingredient].Hex()
			c.Swatch = append(c.Swatch, swatch{part, fill})
		}
		for _, s := range b.Slack {
			if atBound(s) {
				c.AtBound++
			}
		}
		list = append(list, c)
	}
	if wide(list) {
		for k := range list {
			list[k].Columns = list[k].more(fewParts)
		}
	}
	return list
}

// wide says whether the cards of a list need more room than usual.
func wide(list []card) bool {
	return slices.ContainsFunc(list, func(c card) bool { return c.more(manyParts) })
}
