package view

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// ternaryFigure shows draws, known recipes and suggestions in a triangle, by their shares of three
// ingredients or groups. The parameter bestKnown is the name of the best known recipe; it may be
// empty. The result is nil if the problem has no three things to show.
func ternaryFigure(m *report.Model, bestKnown string) *figure.Figure {
	t := m.Ternary
	if t == nil {
		return nil
	}
	best := t.Best[:min(len(t.Best), len(m.Best), maxPageEntries)]
	const left, right, top = 34.0, figureWidth - 34, 24.0
	bottom := top + float64((right-left)*math.Sqrt(3)/2)
	f := &figure.Figure{Name: "ternary", Title: "Proportions of " + joinWords(t.Corners[:], "and"), Width: figureWidth, Height: bottom + 40}
	// Corner 0 is at the top, corner 1 at the left and corner 2 at the right.
	position := func(s [3]report.Number) (x, y float64) {
		return left + float64((right-left)*(float64(s[2])+float64(float64(s[0])/2))), bottom - float64((bottom-top)*float64(s[0]))
	}
	line := func(a, b [3]report.Number, width float64, paint figure.Paint) {
		x1, y1 := position(a)
		x2, y2 := position(b)
		f.Line(x1, y1, x2, y2, width, paint)
	}
	for _, share := range []report.Number{0.2, 0.4, 0.6, 0.8} {
		rest := 1 - share
		line([3]report.Number{share, rest, 0}, [3]report.Number{share, 0, rest}, 0.5, figure.Line)
		line([3]report.Number{rest, share, 0}, [3]report.Number{0, share, rest}, 0.5, figure.Line)
		line([3]report.Number{rest, 0, share}, [3]report.Number{0, rest, share}, 0.5, figure.Line)
		text := number.WholePercent(share)
		x, y := position([3]report.Number{share, rest, 0})
		f.Write(x-5, y+4, figure.SmallSize, figure.End, figure.Soft, text)
		x, y = position([3]report.Number{rest, 0, share})
		f.Write(x+5, y+4, figure.SmallSize, figure.Start, figure.Soft, text)
		x, y = position([3]report.Number{0, share, rest})
		f.Write(x, y+15, figure.SmallSize, figure.Middle, figure.Soft, text)
	}
	corners := [3][3]report.Number{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for c := range corners {
		line(corners[c], corners[(c+1)%len(corners)], 1, figure.Ink)
	}
	half := float64(figureWidth/2) - 6
	f.WriteBold(figureWidth/2, top-8, figure.SmallSize, figure.Middle, figure.Ink, figure.Clip(t.Corners[0], figureWidth-60, figure.SmallSize))
	f.WriteBold(0, bottom+33, figure.SmallSize, figure.Start, figure.Ink, figure.Clip(t.Corners[1], half-10, figure.SmallSize))
	f.WriteBold(figureWidth, bottom+33, figure.SmallSize, figure.End, figure.Ink, figure.Clip(t.Corners[2], half-10, figure.SmallSize))

	p := newPointPicture(f, bestKnown)
	for _, d := range t.Draws {
		if x, y := position(d); d[0].IsKnown() {
			p.drawDraw(x, y)
		}
	}
	known, names := make([][2]float64, len(t.Known)), make([]string, len(t.Known))
	for k, r := range t.Known {
		known[k][0], known[k][1] = position(r.Shares)
		names[k] = r.Recipe
	}
	p.drawKnown(known, names)
	at := make([][2]float64, len(best))
	for k, b := range best {
		at[k][0], at[k][1] = position(b) // NaN if the shares are unknown
	}
	p.drawSuggestions(at, suggestionTexts(m, len(best)))
	f.Text = fmt.Sprintf("Ternary plot of the shares of %s in the sum of these three: %s, %s and %s. A corner is all of one; the side opposite has none of it.",
		joinWords(t.Corners[:], "and"), number.CountWithNoun(len(best), "suggestion"), number.CountWithNoun(len(t.Known), "known recipe"), number.CountWithNoun(len(t.Draws), "draw"))
	p.addKeys(len(t.Known) > 0)
	return f
}
