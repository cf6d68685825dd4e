package view

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// A panel is a chart that shows how a prediction changes with one amount or with one condition.
type panel struct {
	with           string // name of the ingredient or condition
	axis           string // title of the horizontal axis
	effect         string // says in words how the prediction changes
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
		p := panel{with: r.Ingredient, axis: r.Ingredient + ", %", recipePosition: share(r.Amount)}
		p.effect = fmt.Sprintf("more of it %s, by %s", r.DescribeDirection(), number.ThreeFigures(float64(r.Swing)))
		for _, q := range r.Points {
			p.points = append(p.points, panelPoint{share(q.Amount), q.Value, q.Low, q.High})
		}
		all = append(all, p)
	}
	for _, r := range of.ConditionResponses {
		p := panel{with: r.Condition, axis: valueHeading(r.Condition, r.Unit), effect: "it changes the prediction by " + number.ThreeFigures(float64(r.Swing))}
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

// responseFigures shows how a prediction changes with the amounts of the most influential
// ingredients and with the conditions: a figure for each, all with the same vertical axis. The
// names of their files begin with fileName, and label is what is predicted.
func responseFigures(of *report.Forest, fileName, label string) (all []*figure.Figure) {
	panels := newPanels(of)
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
	margin := float64((high - low) / 25)
	low, high = low-margin, high+margin
	title := "predicted " + label
	if !strings.Contains(label, of.Unit) {
		title = valueHeading(title, of.Unit)
	}
	for k := range panels {
		f := &figure.Figure{Name: fmt.Sprintf("%s-%d", fileName, k+1), Title: "How " + label + " changes with " + panels[k].with}
		f.Text = fmt.Sprintf("Line plot of predicted %s over %s at %s: %s.", label, panels[k].axis, of.At, panels[k].effect)
		panels[k].draw(f, low, high, title)
		all = append(all, f)
	}
	return all
}

// draw draws the panel with its axes into f. Predictions are between low and high, and title says
// what they are.
func (p *panel) draw(f *figure.Figure, low, high float64, title string) {
	const left, right, top, bottom = 52.0, figureWidth - 14, 22.0, 212.0
	f.Width, f.Height = figureWidth, bottom+38
	x := figure.Scale{Lo: p.points[0].position, Hi: p.points[len(p.points)-1].position, From: left, To: right}
	y := figure.Scale{Lo: low, Hi: high, From: bottom, To: top}
	if p.categories != nil {
		x.Lo, x.Hi = x.Lo-0.5, x.Hi+0.5
	}
	drawVerticalAxis(f, x, y, title)
	if p.categories != nil {
		room := (right - left) / float64(len(p.categories))
		for k, name := range p.categories {
			f.Write(x.At(float64(k)), bottom+17, figure.SmallSize, figure.Middle, figure.Soft, figure.Clip(name, room-4, figure.SmallSize))
		}
		drawHorizontalTitle(f, x, bottom, p.axis)
	} else {
		drawHorizontalAxis(f, x, bottom, p.axis)
	}
	hasBand := p.drawIntervals(f, x, y)
	f.Dashed(x.At(p.recipePosition), top, x.At(p.recipePosition), bottom, 1, figure.Ink)
	if p.categories != nil {
		for _, q := range p.points {
			f.Dot(x.At(q.position), y.At(float64(q.value)), 4, figure.Accent)
		}
	} else {
		var line []float64
		for _, q := range p.points {
			line = append(line, x.At(q.position), y.At(float64(q.value)))
		}
		f.Path(line, 2.5, figure.Accent)
	}
	f.Key("prediction", func(f *figure.Figure, x, y float64) {
		if p.categories != nil {
			f.Dot(x+10, y+5, 4, figure.Accent)
		} else {
			f.Line(x, y+5, x+20, y+5, 2.5, figure.Accent)
		}
	})
	if hasBand {
		f.Key("90 % interval", func(f *figure.Figure, x, y float64) { f.FillTranslucent(x, y, 20, 10, figure.Accent) })
	}
	f.Key("the recipe", func(f *figure.Figure, x, y float64) { f.Dashed(x, y+5, x+20, y+5, 1, figure.Ink) })
	f.PlaceKeys()
}

// drawIntervals draws the intervals of the predictions: a bar for each category, or a band along
// numbers. It reports whether there are any.
func (p *panel) drawIntervals(f *figure.Figure, x, y figure.Scale) bool {
	var lower, upper []float64
	for _, q := range p.points {
		if !q.low.IsKnown() || !q.high.IsKnown() {
			continue
		}
		at, low, high := x.At(q.position), y.At(float64(q.low)), y.At(float64(q.high))
		if p.categories != nil {
			f.FillTranslucent(at-6, min(low, high), 12, math.Abs(low-high), figure.Accent)
		}
		lower, upper = append(lower, at, low), append(upper, at, high)
	}
	if p.categories == nil && len(lower) > 2 {
		for k := len(upper) - 2; k >= 0; k -= 2 { // back along the upper edge
			lower = append(lower, upper[k], upper[k+1])
		}
		f.FillArea(lower, figure.Accent)
	}
	return len(upper) > 0
}
