package view

import (
	"kir/internal/number"
	"kir/internal/report/figure"
)

// drawScatterAxes draws the axes of a chart with their numbers and titles; see [drawVerticalAxis] and
// [drawHorizontalAxis].
func drawScatterAxes(f *figure.Figure, x, y figure.Scale, xTitle, yTitle string) {
	drawVerticalAxis(f, x, y, yTitle)
	drawHorizontalAxis(f, x, y.From, xTitle)
}

// drawVerticalAxis draws the numbers of the vertical axis and their lines. The title stands above
// the axis; it takes 18 pixels.
func drawVerticalAxis(f *figure.Figure, x, y figure.Scale, title string) {
	ticks, digits := figure.Ticks(y.Lo, y.Hi, 5)
	for _, v := range ticks {
		f.Line(x.From, y.At(v), x.To, y.At(v), 0.5, figure.Line)
		f.Write(x.From-5, y.At(v)+4, figure.SmallSize, figure.End, figure.Soft, number.Axis(v, digits))
	}
	f.Write(0, y.To-9, figure.SmallSize, figure.Start, figure.Soft, figure.Clip(title, f.Width, figure.SmallSize))
}

// drawHorizontalAxis draws the horizontal axis at the height bottom, with its numbers and its title.
func drawHorizontalAxis(f *figure.Figure, x figure.Scale, bottom float64, title string) {
	ticks, digits := figure.Ticks(x.Lo, x.Hi, 5)
	for _, v := range ticks {
		f.Write(x.At(v), bottom+17, figure.SmallSize, figure.Middle, figure.Soft, number.Axis(v, digits))
	}
	drawHorizontalTitle(f, x, bottom, title)
}

// drawHorizontalTitle draws the line of the horizontal axis at the height bottom, and its title,
// which leaves room for a row of numbers or names.
func drawHorizontalTitle(f *figure.Figure, x figure.Scale, bottom float64, title string) {
	f.Line(x.From, bottom, x.To, bottom, 1, figure.Ink)
	f.Write(x.To, bottom+34, figure.SmallSize, figure.End, figure.Soft, figure.Clip(title, x.To-x.From, figure.SmallSize))
}

// A labelPlacer places short texts beside points so that no two of them lie across each other.
type labelPlacer struct {
	width, height float64      // size of the figure
	taken         [][4]float64 // left, top, right and bottom of each area without room for a text
}

// keepFree keeps texts away from a point of the given radius.
func (l *labelPlacer) keepFree(x, y, radius float64) {
	l.taken = append(l.taken, [4]float64{x - radius, y - radius, x + radius, y + radius})
}

// place finds room for a text beside a point of the given radius, and keeps it. It returns where
// the text starts and its base line; ok is false if there is no room.
func (l *labelPlacer) place(x, y, radius float64, text string) (left, base float64, ok bool) {
	width := figure.TextWidth(text, figure.SmallSize)
	const height = figure.SmallSize
	for _, corner := range [][2]float64{
		{x + radius + 2, y - height/2}, {x - radius - 2 - width, y - height/2}, {x - float64(width/2), y - radius - 3 - height}, {x - float64(width/2), y + radius + 3},
		{x + radius + 2, y - radius - 3 - height}, {x + radius + 2, y + radius + 3}, {x - radius - 2 - width, y - radius - 3 - height}, {x - radius - 2 - width, y + radius + 3},
	} {
		box := [4]float64{corner[0], corner[1], corner[0] + width, corner[1] + height}
		if l.isFree(box) {
			l.taken = append(l.taken, box)
			return box[0], box[3] - 2, true
		}
	}
	return 0, 0, false
}

// isFree reports whether a box lies within the figure and overlaps none that is taken.
func (l *labelPlacer) isFree(box [4]float64) bool {
	if box[0] < 0 || box[1] < 0 || box[2] > l.width || box[3] > l.height {
		return false
	}
	for _, t := range l.taken {
		if box[0] < t[2]+1 && t[0] < box[2]+1 && box[1] < t[3]+1 && t[1] < box[3]+1 {
			return false
		}
	}
	return true
}
