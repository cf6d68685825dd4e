package view

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// A pointPicture draws draws, known recipes and suggestions as points, at given positions.
type pointPicture struct {
	figure    *figure.Figure
	bestKnown string // name of the best known recipe; empty if there is none
	labels    labelPlacer
}

// newPointPicture returns a picture of points in a figure, which has its size.
func newPointPicture(f *figure.Figure, bestKnown string) *pointPicture {
	return &pointPicture{f, bestKnown, labelPlacer{width: f.Width, height: f.Height}}
}

// drawDraw draws a draw.
func (p *pointPicture) drawDraw(x, y float64) { p.figure.Dot(x, y, 1.5, figure.Line) }

// drawKnown draws the known recipes: item k of names is the name of the recipe at item k of at. The
// best known lies on top. A recipe without a position, which is NaN, is left out.
func (p *pointPicture) drawKnown(at [][2]float64, names []string) {
	for _, best := range []bool{false, true} {
		for k, xy := range at {
			switch is := p.bestKnown != "" && names[k] == p.bestKnown; {
			case is != best || math.IsNaN(xy[0]):
			case best:
				p.figure.Group(knownEntry, "Your best: "+names[k], func() { drawBestKnown(p.figure, xy[0], xy[1]) })
				p.labels.keepFree(xy[0], xy[1], bestKnownRadius)
			default:
				p.figure.Group("", names[k], func() { p.figure.Ring(xy[0], xy[1], knownRadius, figure.Soft) })
			}
		}
	}
}

// knownRadius is the radius of the ring that is a known recipe.
const knownRadius = 2.2

// bestKnownRadius is the radius of the mark of the best known recipe.
const bestKnownRadius = 6

// drawBestKnown draws the mark of the best known recipe.
func drawBestKnown(f *figure.Figure, x, y float64) {
	f.Dot(x, y, bestKnownRadius, figure.Ground)
	f.Ring(x, y, bestKnownRadius, figure.Ink)
	f.Dot(x, y, 3, figure.Ink)
}

// drawSuggestions draws the suggestions with their numbers. Item k of at is the position of
// suggestion k, and item k of texts describes it. A suggestion without a position, which is NaN, is
// left out, and so is a number for which there is no room.
func (p *pointPicture) drawSuggestions(at [][2]float64, texts []string) {
	const radius = 4
	for k := len(at) - 1; k >= 0; k-- { // so that the first lies on top
		if math.IsNaN(at[k][0]) {
			continue
		}
		p.figure.Group(entryName(k), texts[k], func() { p.figure.Dot(at[k][0], at[k][1], radius, figure.Accent) })
		p.labels.keepFree(at[k][0], at[k][1], radius)
	}
	for k := range at {
		if math.IsNaN(at[k][0]) {
			continue
		}
		text := fmt.Sprint(k + 1)
		if left, base, ok := p.labels.place(at[k][0], at[k][1], radius, text); ok {
			p.figure.Group(entryName(k), texts[k], func() { p.figure.WriteOver(left, base, figure.SmallSize, figure.Start, figure.Ink, text) })
		}
	}
}

// addKeys adds keys that explain the points.
func (p *pointPicture) addKeys(hasKnown bool) {
	p.figure.Key("a suggestion", func(f *figure.Figure, x, y float64) { f.Dot(x+10, y+5, 4, figure.Accent) })
	if hasKnown {
		p.figure.Key("a known recipe", func(f *figure.Figure, x, y float64) { f.Ring(x+10, y+5, knownRadius, figure.Soft) })
	}
	if hasKnown && p.bestKnown != "" {
		p.figure.Key("your best", func(f *figure.Figure, x, y float64) { drawBestKnown(f, x+10, y+5) })
	}
	p.figure.Key("draws", func(f *figure.Figure, x, y float64) {
		for _, dx := range []float64{4, 10, 16} {
			f.Dot(x+dx, y+5, 1.5, figure.Line)
		}
	})
	p.figure.PlaceKeys()
}

// suggestionTexts describes the first count suggestions.
func suggestionTexts(m *report.Model, count int) (texts []string) {
	for k, b := range m.Best[:count] {
		texts = append(texts, fmt.Sprintf("Suggestion %d: %s", k+1, recipeText(b.Parts(), m.Problem.Total)))
	}
	return texts
}

// mapFigure shows draws, known recipes and suggestions as points in a plane, in which similar recipes
// lie near each other. The parameter bestKnown is the name of the best known recipe; it may be empty.
// The result is nil if there is no map.
func mapFigure(m *report.Model, bestKnown string) *figure.Figure {
	t := m.Map
	if t == nil || len(t.Draws) == 0 {
		return nil
	}
	best := t.Best[:min(len(t.Best), len(m.Best), maxPageEntries)]
	const left, right, top, bottom = 8.0, figureWidth - 8, 22.0, 272.0
	f := &figure.Figure{Name: "map", Title: "Map of recipes", Width: figureWidth, Height: bottom + 56}
	var x, y figure.Scale
	points := append(append([][2]report.Number{}, t.Draws...), best...)
	for _, r := range t.Known {
		points = append(points, r.At)
	}
	x.Lo, x.Hi, y.Lo, y.Hi = float64(points[0][0]), float64(points[0][0]), float64(points[0][1]), float64(points[0][1])
	for _, p := range points {
		x.Lo, x.Hi = min(x.Lo, float64(p[0])), max(x.Hi, float64(p[0]))
		y.Lo, y.Hi = min(y.Lo, float64(p[1])), max(y.Hi, float64(p[1]))
	}
	const margin = 10
	x.From, x.To, y.From, y.To = left+margin, right-margin, bottom-margin, top+margin
	for _, edge := range [][4]float64{{left, top, right, top}, {right, top, right, bottom}, {left, bottom, right, bottom}, {left, top, left, bottom}} {
		f.Line(edge[0], edge[1], edge[2], edge[3], 0.5, figure.Line)
	}
	p := newPointPicture(f, bestKnown)
	for _, d := range t.Draws {
		p.drawDraw(x.At(float64(d[0])), y.At(float64(d[1])))
	}
	var known, at [][2]float64
	var names []string
	for _, r := range t.Known {
		known, names = append(known, [2]float64{x.At(float64(r.At[0])), y.At(float64(r.At[1]))}), append(names, r.Recipe)
	}
	p.drawKnown(known, names)
	for _, b := range best {
		at = append(at, [2]float64{x.At(float64(b[0])), y.At(float64(b[1]))})
	}
	p.drawSuggestions(at, suggestionTexts(m, len(best)))
	for _, end := range []struct {
		x, y   float64
		anchor figure.Anchor
		arrow  string
		names  []string
	}{
		{(left + right) / 2, top - 7, figure.Middle, "↑ ", t.Upper}, {(left + right) / 2, bottom + 15, figure.Middle, "↓ ", t.Lower},
		{left, bottom + 32, figure.Start, "← ", t.Left}, {right, bottom + 49, figure.End, "→ ", t.Right},
	} {
		if len(end.names) > 0 {
			f.Write(end.x, end.y, figure.SmallSize, end.anchor, figure.Soft, figure.Clip(end.arrow+strings.Join(end.names, ", "), right-left, figure.SmallSize))
		}
	}
	f.Text = fmt.Sprintf("Map of %s, %s and %s: similar recipes lie near each other.%s The axes show %s of the differences between draws.",
		number.CountWithNoun(len(best), "suggestion"), number.CountWithNoun(len(t.Known), "known recipe"), number.CountWithNoun(len(t.Draws), "draw"), mapEndsText(t), number.Percent(t.Explained))
	p.addKeys(len(t.Known) > 0)
	return f
}

// mapEndsText says which ingredients recipes at the sides of a map have more of.
func mapEndsText(t *report.RecipeMap) string {
	var texts []string
	for _, end := range []struct {
		side  string
		names []string
	}{{"left", t.Left}, {"right", t.Right}, {"bottom", t.Lower}, {"top", t.Upper}} {
		if len(end.names) > 0 {
			texts = append(texts, fmt.Sprintf("%s at the %s", joinWords(end.names, "and"), end.side))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " More " + strings.Join(texts, "; ") + "."
}
