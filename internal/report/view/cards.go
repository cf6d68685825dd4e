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

// A card is a composition of the shortlist on the page.
type card struct {
	report.Best
	Place   int // in the shortlist
	Page    *pageView
	Bar     template.HTML // its stacked bar
	Swatch  []swatch
	Columns bool // the parts are set in columns
	AtBound int  // the number of constraints at their bound
}

// A swatch is a part of a composition with its colour.
type swatch struct {
	report.Part
	Share string // its amount as text
	Fill  string
	Band  string // the colour of its band; empty: no band
}

// Near names the nearest known recipes.
func (c card) Near() string { return strings.TrimPrefix(nearestText(c.Best), "nearest: ") }

// Range returns the allowed range of an ingredient's amount.
func (c card) Range(ingredient string) string {
	if r, ok := c.Ranges[ingredient]; ok {
		return rangeText(r, c.Page.Problem.Total)
	}
	return ""
}

// Sets returns what the recipe sets beside its amounts.
func (c card) Sets() string { return strings.Join(c.Page.Problem.ConditionTexts(c.Best), ", ") }

// Others returns the displayed variants.
func (c card) Others() []string {
	var list []string
	for _, v := range c.Variants[:min(len(c.Variants), shownVariants)] {
		list = append(list, variantText(v, c.Page.Problem.Total))
	}
	return list
}

// Kept returns the probabilities of keeping limits.
func (c card) Kept() []string {
	var list []string
	for _, l := range c.Sure {
		list = append(list, sureText(l))
	}
	return list
}

// manyParts is the number of parts above which a list has columns. fewParts is the same for a list
// next to one with columns.
const manyParts, fewParts = 12, 6

// hasMoreParts reports whether the composition has more than the given number of parts, with names
// short enough for two columns.
func (c card) hasMoreParts(parts int) bool {
	longest := 0
	for name := range c.Recipe {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return len(c.Recipe) > parts && longest <= 24
}

// cards returns entries of the shortlist as the page shows them.
func (v *pageView) cards(of []report.Best, colours map[string]figure.Paint) []card {
	var list []card
	for k, b := range of {
		c := card{Best: b, Place: k, Page: v}
		if f := v.figures[fmt.Sprintf("best-%d", k+1)]; f != nil {
			c.Bar = template.HTML(f.SVG())
		}
		shares := sharesOf(b.Parts(), v.Problem.Total)
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
			list[k].Columns = list[k].hasMoreParts(fewParts)
		}
	}
	return list
}

// needsWideCards reports whether the cards of a list need more room than usual.
func needsWideCards(list []card) bool {
	return slices.ContainsFunc(list, func(c card) bool { return c.hasMoreParts(manyParts) })
}
