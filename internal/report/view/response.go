package view

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// Sizes of a panel, in CSS pixels: the width and height of its plot area, and the margins to the
// left of the area and above it.
const (
	panelWidth, panelHeight = 250.0, 120.0
	panelLeft, panelTop     = 48.0, 24.0
)

// PanelsAcross is the number of panels side by side in a report. A panel shows how a prediction
// changes with one amount or condition.
const PanelsAcross = 2

// A panel is a small chart that shows how a prediction changes with one amount or with one
// condition.
type panel struct {
	title          string
	points         []panelPoint
	recipePosition float64  // position of the recipe on the horizontal axis
	categories     []string // names of the categories of the condition, which have the positions 0, 1, ...; nil for a number
}

// A panelPoint is a prediction, with its interval, shown in a panel.
type panelPoint struct {
	position float64       // position on the horizontal axis, in the numbers of the axis
	value    report.Number // prediction
	low      report.Number // lower end of its interval
	high     report.Number // upper end of its interval
}

// newPanels returns the panels for a model: first one for each ingredient whose amount changes the
// prediction, then one for each condition.
func newPanels(of *report.Forest) (all []panel) {
	share := func(amount int) float64 { return 100 * float64(amount) / float64(of.Total) }
	for _, r := range of.Responses {
		p := panel{title: figure.Clip(r.Ingredient, panelWidth-32, figure.SmallSize*1.1) + ", % " + map[int]string{1: "↑", -1: "↓", 0: "↕"}[r.Sign], recipePosition: share(r.Amount)}
		for _, q := range r.Points {
			p.points = append(p.points, panelPoint{share(q.Amount), q.Value, q.Low, q.High})
		}
		all = append(all, p)
	}
	for _, r := range of.ConditionResponses {
		p := panel{title: figure.Clip(valueHeading(r.Condition, r.Unit), panelWidth-10, figure.SmallSize*1.1)}
		for k, q := range r.Points {
			at, isNumber := q.At.(float64)
			if !isNumber {
				at = float64(k)
				p.categories = append(p.categories, fmt.Sprint(q.At))
			}
			if q.At == r.At {
				p.recipePosition = at
			}
			p.points = append(p.points, panelPoint{at, q.Value, q.Low, q.High})
		}
		all = append(all, p)
	}
	return all
}

// responseFigure shows how a prediction changes with the amounts of the most influential
// ingredients and with the conditions. The parameter fileName is the name of the figure's files,
// label is what is predicted, and across is the number of panels side by side. The result is nil if
// there is nothing to show.
func responseFigure(of *report.Forest, fileName, label string, across int) *figure.Figure {
	panels := newPanels(of)
	if len(panels) == 0 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range panels {
		for _, p := range r.points {
			for _, v := range []report.Number{p.value, p.low, p.high} {
				if v.IsKnown() {
					low, high = min(low, float64(v)), max(high, float64(v))
				}
			}
		}
	}
	if !(low < high) {
		return nil
	}
	rows := (len(panels) + across - 1) / across
	changes := "amounts"
	if len(of.ConditionResponses) > 0 {
		changes = "amounts and conditions"
	}
	f := &figure.Figure{
		Name: fileName, Title: "How " + label + " changes with " + changes + ", at " + of.At,
		Width: float64(float64(across)*(panelWidth+panelLeft)) + 14, Height: float64(float64(rows)*(panelHeight+panelTop+26)) + 20,
	}
	var said []string
	for _, r := range of.Responses {
		said = append(said, fmt.Sprintf("%s %s, by %s", r.Ingredient, r.DescribeDirection(), number.ThreeFigures(float64(r.Swing))))
	}
	for _, r := range of.ConditionResponses {
		said = append(said, fmt.Sprintf("%s changes it by %s", r.Condition, number.ThreeFigures(float64(r.Swing))))
	}
	ticks, digits := figure.Ticks(low, high, 3)
	for k := range panels {
		left := panelLeft + float64(float64(k%across)*(panelWidth+panelLeft))
		top := panelTop + float64(float64(k/across)*(panelHeight+panelTop+26))
		y := figure.Scale{Lo: low, Hi: high, From: top + panelHeight, To: top}
		for _, v := range ticks {
			f.Line(left, y.At(v), left+panelWidth, y.At(v), 0.5, figure.Line)
			f.Write(left-5, y.At(v)+4, figure.SmallSize, figure.End, figure.Soft, number.Axis(v, digits))
		}
		panels[k].draw(f, left, top, y)
	}
	unit := ""
	if of.Unit != "" && !strings.Contains(label, of.Unit) {
		unit = ", " + of.Unit
	}
	notes := []string{"predicted " + label + unit + ", with 90 %", "the others keep their proportions; dashed: the recipe"}
	if across == 1 {
		f.Write(panelLeft, f.Height-4, figure.SmallSize, figure.Start, figure.Soft, notes[0])
		f.Height += 16
		notes = notes[1:]
	}
	f.Write(panelLeft, f.Height-4, figure.SmallSize, figure.Start, figure.Soft, strings.Join(notes, "; "))
	f.Text = fmt.Sprintf("Line plots of predicted %s over the amounts of %d ingredients at %s: %s.", label, len(of.Responses), of.At, strings.Join(said, "; "))
	return f
}

// draw draws the panel with its axes into f, with its upper left corner at left, top. The scale y
// maps predictions to vertical positions.
func (p *panel) draw(f *figure.Figure, left, top float64, y figure.Scale) {
	x := figure.Scale{Lo: p.points[0].position, Hi: p.points[len(p.points)-1].position, From: left, To: left + panelWidth}
	if p.categories != nil {
		x.Lo, x.Hi = x.Lo-0.5, x.Hi+0.5
		room := panelWidth / float64(len(p.categories))
		for k, name := range p.categories {
			f.Write(x.At(float64(k)), top+panelHeight+14, figure.SmallSize, figure.Middle, figure.Soft, figure.Clip(name, room-4, figure.SmallSize))
		}
	} else {
		marks, places := figure.Ticks(x.Lo, x.Hi, 4)
		for _, v := range marks {
			f.Write(x.At(v), top+panelHeight+14, figure.SmallSize, figure.Middle, figure.Soft, number.Axis(v, places))
		}
	}
	f.Line(left, top+panelHeight, left+panelWidth, top+panelHeight, 1, figure.Ink)
	f.Dashed(x.At(p.recipePosition), top, x.At(p.recipePosition), top+panelHeight, 1, figure.Soft)
	if p.categories != nil {
		p.drawDots(f, x, y)
	} else {
		p.drawLine(f, x, y)
	}
	f.WriteBold(left, top-7, figure.SmallSize, figure.Start, figure.Ink, p.title)
}

// drawDots draws, for a condition with categories, the prediction for each category as a dot on its
// interval.
func (p *panel) drawDots(f *figure.Figure, x, y figure.Scale) {
	for _, q := range p.points {
		if q.low.IsKnown() && q.high.IsKnown() {
			f.Line(x.At(q.position), y.At(float64(q.low)), x.At(q.position), y.At(float64(q.high)), 1, figure.Soft)
		}
		f.Dot(x.At(q.position), y.At(float64(q.value)), 3, figure.Accent)
	}
}

// drawLine draws, for a numeric condition or an amount, the predictions as a line, between two
// lines for the ends of the intervals.
func (p *panel) drawLine(f *figure.Figure, x, y figure.Scale) {
	var line, below, above []float64
	for _, q := range p.points {
		at := x.At(q.position)
		line = append(line, at, y.At(float64(q.value)))
		if q.low.IsKnown() && q.high.IsKnown() {
			below, above = append(below, at, y.At(float64(q.low))), append(above, at, y.At(float64(q.high)))
		}
	}
	for _, edge := range [][]float64{below, above} {
		if len(edge) > 2 {
			f.Path(edge, 0.75, figure.Soft)
		}
	}
	f.Path(line, 2, figure.Accent)
}
