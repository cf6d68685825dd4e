package view

import (
	"slices"
	"strings"

	"kir/report"
	"kir/report/figure"
	"kir/report/number"
)

// coloursOf gives each ingredient of some compositions a colour that it has in
// all of them, those that make up most of them first: one that no other
// ingredient has, or else the least used one that none has which it is together
// with, or else grey.
func coloursOf(list []report.Placed) map[string]figure.Paint {
	sums := make(map[string]int)
	for _, b := range list {
		for name, amount := range b.Recipe {
			sums[name] += amount
		}
	}
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if sums[a] != sums[b] {
			return sums[b] - sums[a]
		}
		return strings.Compare(a, b)
	})
	colours := make(map[string]figure.Paint, len(names))
	const grey = figure.Colours - 1
	var uses [grey]int
	greys := 0
	for _, name := range names {
		var taken [grey + 1]bool
		for _, b := range list {
			if b.Recipe[name] == 0 {
				continue
			}
			for other := range b.Recipe {
				if c, ok := colours[other]; ok {
					taken[min(c.Index(), grey)] = true
				}
			}
		}
		best := -1
		for k, n := range uses {
			if !taken[k] && (best < 0 || n < uses[best]) {
				best = k
			}
		}
		if best < 0 {
			best = grey + greys%2
			greys++
		} else {
			uses[best]++
		}
		colours[name] = figure.Colour(best)
	}
	return colours
}

// compositionFigure draws a composition as a stacked bar. Its list of parts is
// the key, which the page sets as text.
func compositionFigure(m *report.Model, name, title string, b *report.Best, colours map[string]figure.Paint) *figure.Figure {
	const width, height = 300.0, 40.0
	f := &figure.Figure{Name: name, Title: title, Width: width, Height: height}
	if m.Weighs() {
		f.Title += ", score " + number.Three(b.Score)
	}
	parts := b.Parts()
	// The smallest part can be seen.
	const least = 1.5
	widths := make([]float64, len(parts))
	sum := 0.0
	for k, p := range parts {
		widths[k] = max(least, width*float64(p.Amount)/float64(m.Problem.Total))
		sum += widths[k]
	}
	var said []string
	x := 0.0
	for k, p := range parts {
		w := widths[k] * width / sum
		paint := colours[p.Ingredient]
		f.Segment(x, 0, w, height, paint)
		share := share(p.Amount, m.Problem.Total)
		if figure.TextWidth(share, smallSize) <= w-4 {
			if room := w - 8; room > 28 {
				f.WriteOn(x+4, 16, textSize, figure.Start, paint, figure.Clip(p.Ingredient, room, textSize))
				f.WriteOn(x+4, 32, smallSize, figure.Start, paint, share)
			} else {
				f.WriteOn(x+w/2, 24, smallSize, figure.Middle, paint, share)
			}
		}
		x += w
		said = append(said, p.Ingredient+" "+share)
		f.Key(share+" "+p.Ingredient, func(f *figure.Figure, x, y float64) { f.Rect(x, y, 20, 10, paint) })
	}
	f.Text = strings.Join(said, ", ") + "."
	return f
}

// share writes units as a share of the total, in short.
func share(amount, total int) string { return strings.TrimSpace(number.Share(amount, total)) }
