package view

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

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
	AtBound int           // number of constraints with the composition exactly at a bound
}

// A knownCard shows the best known recipe before the entries of the shortlist.
type knownCard struct {
	card
	Name    string
	Results []string // what was measured, predicted or computed of the recipe
	Notes   []string // where the shortlist stands beside the recipe
}

// newKnownCard returns the card of the best known recipe; nil if there is none.
func (v *pageView) newKnownCard(colours map[string]figure.Paint) *knownCard {
	k := v.BestKnown
	if k == nil {
		return nil
	}
	b := report.Best{Recipe: k.Recipe, Conditions: k.Conditions, Score: k.Score}
	c := &knownCard{card: card{Best: b, Page: v, Swatch: v.swatches(b, colours)}, Name: k.Name, Results: knownResultTexts(v.Model), Notes: knownNotes(v.Model)}
	c.Bar = template.HTML(barFigure(v.Model, "best-known", k.Name, b.Parts(), colours, slimBar).SVG())
	return c
}

// A swatch is an ingredient of a composition, with its amount and the colour that stands for the
// ingredient.
type swatch struct {
	report.Part
	Text  string // amount in the unit of the known recipes, or in percent if they have none
	Share string // amount in percent; empty if Text is in percent
	Fill  string // colour, as #rrggbb
	Band  string // colour of the band along the lower edge; empty if there is no band
}

// NearestRecipes names the known recipes nearest to the composition.
func (c card) NearestRecipes() string { return strings.TrimPrefix(nearestText(c.Best), nearestPrefix) }

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

// maxSingleColumnParts is the largest number of ingredients that a card lists in a single column.
// With more than maxTwoColumnParts ingredients on a card, all cards are wide.
const maxSingleColumnParts, maxTwoColumnParts = 6, 20

// PartsClass returns the CSS class of the list of ingredients: "" for a single column, "many" for
// several columns, and "most" for a list that a narrow screen shows as running text.
func (c card) PartsClass() string {
	switch n := len(c.Recipe); {
	case n > maxTwoColumnParts:
		return "most"
	case n > maxSingleColumnParts:
		return "many"
	}
	return ""
}

// NotBetter says that the best known recipe scores at least as much; see [notBetterText].
func (c card) NotBetter() string { return notBetterText(c.Page.Model, c.Best) }

// HasMore reports whether the card has anything to unfold.
func (c card) HasMore() bool {
	return len(c.Ranges)+len(c.Variants)+len(c.Nearest)+len(c.Slack) > 0
}

// Room lists the ranges within which the amounts of ingredients may vary without a clear difference,
// such as "Champagne 45.0–47.0 %". It returns "" if there are none.
func (c card) Room() string {
	var list []string
	for _, part := range c.Parts() {
		if r, ok := c.Ranges[part.Ingredient]; ok {
			list = append(list, part.Ingredient+" "+strings.Trim(rangeText(r, c.Page.Problem.Total), "()")+" %")
		}
	}
	return strings.Join(list, ", ")
}

// newCards returns the cards of the given entries of the shortlist. The parameter colours maps the
// name of an ingredient to its colour.
func (v *pageView) newCards(of []report.Best, colours map[string]figure.Paint) []card {
	var list []card
	for k, b := range of {
		c := card{Best: b, Place: k, Page: v, Swatch: v.swatches(b, colours)}
		c.Bar = template.HTML(barFigure(v.Model, fmt.Sprintf("best-%d", k+1), fmt.Sprintf("Suggestion %d", k+1), b.Parts(), colours, slimBar).SVG())
		for _, s := range b.Slack {
			if isAtBound(s) {
				c.AtBound++
			}
		}
		list = append(list, c)
	}
	return list
}

// swatches returns the ingredients of a recipe with their amounts and colours, the largest amount
// first.
func (v *pageView) swatches(b report.Best, colours map[string]figure.Paint) []swatch {
	var list []swatch
	parts := b.Parts()
	writer := newAmountWriter(v.Problem)
	texts, shares := writer.texts(parts), partShareTexts(parts, v.Problem.Total)
	for k, part := range parts {
		paint := colours[part.Ingredient]
		s := swatch{Part: part, Text: texts[k]}
		s.Fill, s.Band = paint.Hex()
		if !paint.Banded() {
			s.Band = ""
		}
		if writer.hasUnit() {
			s.Share = shares[k]
		}
		list = append(list, s)
	}
	return list
}

// needsWideCards reports whether a card of the list has too many ingredients for a narrow card.
func needsWideCards(list []card) bool {
	return slices.ContainsFunc(list, func(c card) bool { return len(c.Recipe) > maxTwoColumnParts })
}
