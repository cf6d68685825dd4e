package view

import (
	"fmt"
	"math"
	"strings"

	"kir/internal/number"
	"kir/internal/report"
	"kir/internal/report/figure"
)

// The sizes of panels of responses.
const (
	panelWidth, panelHeight = 250.0, 120.0
	panelLeft, panelTop     = 48.0, 24.0
)

// PanelsAcross is the number of panels of responses across a report.
const PanelsAcross = 2

// responseFigure shows how a prediction changes with the amounts of the ingredients that it depends
// on most, with the given number of panels across. It returns nil if that is unknown.
func responseFigure(of *report.Forest, file, label string, across int) *figure.Figure {
	if len(of.Responses) == 0 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range of.Responses {
		for _, p := range r.Points {
			for _, v := range []report.Number{p.Value, p.Low, p.High} {
				if v.Known() {
					low, high = min(low, float64(v)), max(high, float64(v))
				}
			}
		}
	}
	if !(low < high) {
		return nil
	}
	rows := (len(of.Responses) + across - 1) / across
	f := &figure.Figure{
		Name: file, Title: "How " + label + " changes with amounts, at " + of.At,
		Width: float64(float64(across)*(panelWidth+panelLeft)) + 14, Height: float64(float64(rows)*(panelHeight+panelTop+26)) + 20,
	}
	var said []string
	ticks, digits := figure.Ticks(low, high, 3)
	for k, r := range of.Responses {
		said = append(said, fmt.Sprintf("%s %s, by %s", r.Ingredient, r.Words(), number.ThreeFigures(float64(r.Swing))))
		left := panelLeft + float64(float64(k%across)*(panelWidth+panelLeft))
		top := panelTop + float64(float64(k/across)*(panelHeight+panelTop+26))
		share := func(amount int) float64 { return 100 * float64(amount) / float64(of.Total) }
		x := figure.Scale{Lo: share(r.Points[0].Amount), Hi: share(r.Points[len(r.Points)-1].Amount), From: left, To: left + panelWidth}
		y := figure.Scale{Lo: low, Hi: high, From: top + panelHeight, To: top}
		for _, v := range ticks {
			f.Line(left, y.At(v), left+panelWidth, y.At(v), 0.5, figure.Line)
			f.Write(left-5, y.At(v)+4, figure.SmallSize, figure.End, figure.Soft, number.Axis(v, digits))
		}
		marks, places := figure.Ticks(x.Lo, x.Hi, 4)
		for _, v := range marks {
			f.Write(x.At(v), top+panelHeight+14, figure.SmallSize, figure.Middle, figure.Soft, number.Axis(v, places))
		}
		f.Line(left, top+panelHeight, left+panelWidth, top+panelHeight, 1, figure.Ink)
		f.Dashed(x.At(share(r.Amount)), top, x.At(share(r.Amount)), top+panelHeight, 1, figure.Soft)
		var line, below, above []float64
		for _, p := range r.Points {
			at := x.At(share(p.Amount))
			line = append(line, at, y.At(float64(p.Value)))
			if p.Low.Known() && p.High.Known() {
				below, above = append(below, at, y.At(float64(p.Low))), append(above, at, y.At(float64(p.High)))
			}
		}
		for _, edge := range [][]float64{below, above} {
			if len(edge) > 2 {
				f.Path(edge, 0.75, figure.Soft)
			}
		}
		f.Path(line, 2, figure.Accent)
		f.WriteBold(left, top-7, figure.SmallSize, figure.Start, figure.Ink, figure.Clip(r.Ingredient, panelWidth-32, figure.SmallSize*1.1)+", % "+map[int]string{1: "↑", -1: "↓", 0: "↕"}[r.Sign])
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
