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

// A card shows an entry of the shortlist on the page of a report.
type card struct {
	report.Best
	Place   int           // index of the entry in the shortlist, from 0
	Page    *pageView     // page that the card belongs to
	Bar     template.HTML // the composition as a stacked bar, an SVG element
	Swatch  []swatch      // ingredients with their amounts and colours
	Columns bool          // whether the ingredients are listed in two columns
	AtBound int           // number of constraints with the composition exactly at a bound
}

// A swatch is an ingredient of a composition, with its amount and the colour that stands for the
// ingredient.
type swatch struct {
	report.Part
	Share string // amount as a percentage
	Fill  string // colour, as #rrggbb
	Band  string // colour of the band along the lower edge; empty if there is no band
}

// Near names the known recipes nearest to the composition.
func (c card) Near() string { return strings.TrimPrefix(nearestText(c.Best), "nearest: ") }

// Range returns, in brackets, the range within which an ingredient's amount may vary without a
// clear difference. It returns "" if there is no such range.
func (c card) Range(ingredient string) string {
	if r, ok := c.Ranges[ingredient]; ok {
		return rangeText(r, c.Page.Problem.Total)
	}
	return ""
}

// Sets lists the values of the conditions of the recipe, such as "temperature 185 °C".
func (c card) Sets() string { return strings.Join(c.Page.Problem.ConditionTexts(c.Best), ", ") }

// Others returns a text on each displayed variant: a composition that differs in a few ingredients
// and is nearly as good.
func (c card) Others() []string {
	var list []string
	for _, v := range c.Variants[:min(len(c.Variants), maxVariants)] {
		list = append(list, variantText(v, c.Page.Problem.Total))
	}
	return list
}

// Kept returns texts with the probabilities that a measurement keeps the limits of the problem.
func (c card) Kept() []string {
	var list []string
	for _, l := range c.Sure {
		list = append(list, limitProbabilityText(l))
	}
	return list
}

// maxNarrowCardParts is the largest number of ingredients on a narrow card, which shows an entry of
// the shortlist; if an entry has more, all cards are wide. A wide card lists at most
// maxSingleColumnParts ingredients in a single column, and more in two columns.
const maxNarrowCardParts, maxSingleColumnParts = 12, 6

// hasMoreParts reports whether the composition has more than the given number of ingredients, and
// names short enough for two columns.
func (c card) hasMoreParts(parts int) bool {
	longest := 0
	for name := range c.Recipe {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return len(c.Recipe) > parts && longest <= 24
}

// newCards returns the cards of the given entries of the shortlist. The parameter colours maps the
// name of an ingredient to its colour.
func (v *pageView) newCards(of []report.Best, colours map[string]figure.Paint) []card {
	var list []card
	for k, b := range of {
		c := card{Best: b, Place: k, Page: v}
		if f := v.figures[fmt.Sprintf("best-%d", k+1)]; f != nil {
			c.Bar = template.HTML(f.SVG())
		}
		shares := partShareTexts(b.Parts(), v.Problem.Total)
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

// needsWideCards reports whether a card of the list has too many ingredients for a narrow card.
// Then all cards are wide.
func needsWideCards(list []card) bool {
	return slices.ContainsFunc(list, func(c card) bool { return c.hasMoreParts(maxNarrowCardParts) })
}
