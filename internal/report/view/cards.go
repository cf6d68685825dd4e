package view

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"kir/internal/report"
	"kir/internal/report/figure"
)

// A card is an entry of the shortlist as the page shows it.
type card struct {
	report.Best
	Place   int // index in the shortlist
	Page    *pageView
	Bar     template.HTML // SVG of the composition as a stacked bar
	Swatch  []swatch
	Columns bool // whether the parts are listed in columns
	AtBound int  // number of constraints that the composition meets exactly at a bound
}

// A swatch is a part of a composition with the colour of its ingredient.
type swatch struct {
	report.Part
	Share string // amount as a percentage
	Fill  string
	Band  string // colour of the band along the lower edge; empty: no band
}

// Near names the known recipes nearest to the composition.
func (c card) Near() string { return strings.TrimPrefix(nearestText(c.Best), "nearest: ") }

// Range returns the range within which an ingredient's amount may vary, in brackets; "" if there is
// none.
func (c card) Range(ingredient string) string {
	if r, ok := c.Ranges[ingredient]; ok {
		return rangeText(r, c.Page.Problem.Total)
	}
	return ""
}

// Sets lists the values of the conditions of the recipe, such as "temperature 185 °C".
func (c card) Sets() string { return strings.Join(c.Page.Problem.ConditionTexts(c.Best), ", ") }

// Others describes the displayed variants of the composition.
func (c card) Others() []string {
	var list []string
	for _, v := range c.Variants[:min(len(c.Variants), maxVariants)] {
		list = append(list, variantText(v, c.Page.Problem.Total))
	}
	return list
}

// Kept lists the probabilities that measurements keep the limits of the problem.
func (c card) Kept() []string {
	var list []string
	for _, l := range c.Sure {
		list = append(list, limitProbabilityText(l))
	}
	return list
}

// maxNarrowCardParts is the largest number of parts of a narrow card; if a card has more parts, all
// cards are made wide. In wide cards, maxSingleColumnParts is the largest number of parts that are
// listed in a single column.
const maxNarrowCardParts, maxSingleColumnParts = 12, 6

// hasMoreParts reports whether the composition has more than the given number of parts, with names
// short enough for two columns.
func (c card) hasMoreParts(parts int) bool {
	longest := 0
	for name := range c.Recipe {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return len(c.Recipe) > parts && longest <= 24
}

// newCards returns entries of the shortlist as the page shows them.
func (v *pageView) newCards(of []report.Best, colours map[string]figure.Paint) []card {
	var list []card
	for k, b := range of {
		c := card{Best: b, Place: k, Page: v}
		if f := v.figures[fmt.Sprintf("best-%d", k+1)]; f != nil {
			c.Bar = template.HTML(f.SVG())
		}
		shares := partShares(b.Parts(), v.Problem.Total)
		for k, part := range b.Parts() {
			paint := colours[part.Ingredient]
			fill, band := paint.Hex()
			if !paint.Banded() {
				band = ""
			}
			c.Swatch = append(c.Swatch, swatch{part, shares[k], fill, band})
		}
		for _, s := range b.Slack {
			if isAtBound(s) {
				c.AtBound++
			}
		}
		list = append(list, c)
	}
	if needsWideCards(list) {
		for k := range list {
			list[k].Columns = list[k].hasMoreParts(maxSingleColumnParts)
		}
	}
	return list
}

// needsWideCards reports whether a card of the list has too many parts for narrow cards.
func needsWideCards(list []card) bool {
	return slices.ContainsFunc(list, func(c card) bool { return c.hasMoreParts(maxNarrowCardParts) })
}
