package view

import (
	"fmt"
	"math"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// maxIntervalsShown is the largest number of held-out recipes whose intervals a figure shows. More
// would hide the points.
const maxIntervalsShown = 100

// heldOutFigure shows predicted against measured values of recipes. Each prediction comes from a
// model that was trained without the recipe. The parameter fileName is the name of the figure's
// files, and label is the label that the model predicts. The result is nil if there are no such
// predictions.
func heldOutFigure(of *report.Forest, fileName, label string) *figure.Figure {
	if len(of.HeldOut) == 0 {
		return nil
	}
	least, greatest := math.Inf(1), math.Inf(-1)
	held, intervals := 0, 0
	withIntervals := len(of.HeldOut) <= maxIntervalsShown
	for _, h := range of.HeldOut {
		shown := []report.Number{h.Measured, h.Value}
		if h.Low.IsKnown() && h.High.IsKnown() {
			intervals++
			if h.Low <= h.Measured && h.Measured <= h.High {
				held++
			}
			if withIntervals {
				shown = append(shown, h.Low, h.High)
			}
		}
		for _, v := range shown {
			least, greatest = min(least, float64(v)), max(greatest, float64(v))
		}
	}
	if !(least < greatest) {
		return nil
	}
	margin := float64((greatest - least) / 25)
	least, greatest = least-margin, greatest+margin
	const left, right, top, bottom = 52.0, figureWidth - 14, 22.0, 286.0
	f := &figure.Figure{Name: fileName, Title: label + ": predicted and measured", Width: figureWidth, Height: bottom + 38}
	f.Text = fmt.Sprintf("Scatter plot of %s that the model had not seen: predicted (across) and measured (up).", number.CountWithNoun(len(of.HeldOut), "recipe"))
	if intervals > 0 {
		f.Text += fmt.Sprintf(" The 90 %% intervals hold %d of %d.", held, intervals)
	}
	x := figure.Scale{Lo: least, Hi: greatest, From: left, To: right}
	y := figure.Scale{Lo: least, Hi: greatest, From: bottom, To: top}
	drawScatterAxes(f, x, y, valueHeading("predicted", of.Unit), valueHeading("measured", of.Unit))
	f.Dashed(left, bottom, right, top, 1, figure.Ink)
	if withIntervals && intervals > 0 {
		for _, h := range of.HeldOut {
			if h.Low.IsKnown() && h.High.IsKnown() {
				f.Line(x.At(float64(h.Low)), y.At(float64(h.Measured)), x.At(float64(h.High)), y.At(float64(h.Measured)), 0.5, figure.Soft)
			}
		}
	}
	for _, h := range of.HeldOut {
		text := fmt.Sprintf("predicted %s, measured %s", number.Value(h.Value), number.Value(h.Measured))
		if h.Recipe != "" {
			text = h.Recipe + ": " + text
		}
		f.Group("", text, func() { f.Dot(x.At(float64(h.Value)), y.At(float64(h.Measured)), 3, figure.Accent) })
	}
	f.Key("a held-out recipe", func(f *figure.Figure, x, y float64) {
		if withIntervals && intervals > 0 {
			f.Line(x, y+5, x+20, y+5, 0.5, figure.Soft)
		}
		f.Dot(x+10, y+5, 3, figure.Accent)
	})
	f.Key("perfect", func(f *figure.Figure, x, y float64) { f.Dashed(x, y+10, x+20, y, 1, figure.Ink) })
	f.PlaceKeys()
	return f
}
