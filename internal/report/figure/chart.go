package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kir/internal/number"
)

// TextSize is the size of text in figures, and SmallSize the size of text at axes and in keys, both
// in CSS pixels.
const (
	TextSize  = 12.0
	SmallSize = 11.0
)

// Percent is the unit of [Figure.Frame] for shares in percent.
const Percent = 0.01

// Frame draws the axes of a chart, with the title of the horizontal axis below. The vertical axis
// runs from 0 to highest, and its ticks are labelled in the given unit. Frame returns the vertical
// scale.
func (f *Figure) Frame(left, top, right, bottom, highest, unit float64, title string) Scale {
	scale := Scale{Lo: 0, Hi: highest, From: bottom, To: top}
	ticks, digits := Ticks(0, highest/unit, 5)
	for _, t := range ticks {
		y := scale.At(float64(t * unit))
		f.Line(left, y, right, y, 0.5, Line)
		f.Write(left-5, y+4, SmallSize, End, Soft, number.Axis(t, digits))
	}
	f.Line(left, bottom, right, bottom, 1, Ink)
	f.Write(float64((left+right)/2), bottom+29, SmallSize, Middle, Soft, title)
	return scale
}

// TickStep returns the step between labelled numbers on an axis of whole numbers. The step is 1, or
// the least of 2, 5, 10, 20, ... that leaves at most maxLabels labels.
func TickStep(numbers, maxLabels int) int {
	step := 1
	for k := 0; numbers/step > maxLabels; k++ {
		if k%3 == 1 { // 1, 2, 5, 10
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	return step
}

// A Slice is a part of a stacked bar.
type Slice struct {
	Name, Share string
	Size        float64 // size in any unit; only the ratios of sizes matter
}

// Stack draws a bar divided into slices, with their names and shares where these fit. Even the
// smallest slice is visible.
func (f *Figure) Stack(x, y, width, height float64, parts []Slice, colours map[string]Paint) {
	const least = 1.5
	whole, sum := 0.0, 0.0
	for _, p := range parts {
		whole += p.Size
	}
	widths := make([]float64, len(parts))
	for k, p := range parts {
		widths[k] = max(least, width*p.Size/whole)
		sum += widths[k]
	}
	for k, p := range parts {
		w, paint := widths[k]*width/sum, colours[p.Name]
		f.Segment(x, y, w, height, paint)
		if TextWidth(p.Share, SmallSize) <= w-4 {
			if room := w - 8; room > 28 {
				f.WriteOn(x+4, y+float64(0.4*height), TextSize, Start, paint, Clip(p.Name, room, TextSize))
				f.WriteOn(x+4, y+float64(0.8*height), SmallSize, Start, paint, p.Share)
			} else {
				f.WriteOn(x+float64(w/2), y+float64(0.6*height), SmallSize, Middle, paint, p.Share)
			}
		}
		x += w
	}
}

// KeyOf adds a key that explains the colour of a slice.
func (f *Figure) KeyOf(text string, paint Paint) {
	f.Key(text, func(f *Figure, x, y float64) { f.Rect(x, y, 20, 10, paint) })
}

// A Palette assigns colours to ingredients; an assigned colour never changes. It assigns each plain
// colour once, then each colour with a band once, then greys. The zero Palette has assigned no
// colours.
type Palette[N int | float64] struct {
	paints        map[string]Paint
	greysAssigned int
}

// Add assigns colours to those ingredients of the given compositions that have no colour yet. The
// compositions are given as amounts by ingredient. Ingredients with the largest total amounts come
// first.
func (p *Palette[N]) Add(list []map[string]N) {
	sums := make(map[string]N)
	for _, recipe := range list {
		for name, amount := range recipe {
			if _, ok := p.paints[name]; !ok {
				sums[name] += amount
			}
		}
	}
	if p.paints == nil {
		p.paints = make(map[string]Paint)
	}
	for _, name := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b))
	}) {
		next := len(p.paints)
		if next >= firstGrey {
			next = firstGrey + p.greysAssigned%greyCount
			p.greysAssigned++
		}
		p.paints[name] = Colour(next)
	}
}

// Paints returns the assigned colours by ingredient.
func (p *Palette[N]) Paints() map[string]Paint { return maps.Clone(p.paints) }

// Colours assigns a colour to each ingredient of the given compositions; see [Palette].
func Colours[N int | float64](list []map[string]N) map[string]Paint {
	var p Palette[N]
	p.Add(list)
	return p.paints
}
