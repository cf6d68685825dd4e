package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kir/internal/number"
)

// Sizes of text in figures, in CSS pixels.
const (
	TextSize  = 13.0 // usual size of text
	SmallSize = 12.0 // size of text at axes and in keys
)

// Percent is the value of the parameter unit of [Figure.Frame] that labels shares from 0 to 1 in
// percent.
const Percent = 0.01

// Frame draws the axes of a chart. The vertical axis runs from 0 to highest; its labels show
// multiples of unit. The parameter title is the title of the horizontal axis. Frame returns the
// scale of the vertical axis.
func (f *Figure) Frame(left, top, right, bottom, highest, unit float64, title string) Scale {
	scale := Scale{Lo: 0, Hi: highest, From: bottom, To: top}
	ticks, digits := Ticks(0, highest/unit, 5)
	for _, t := range ticks {
		y := scale.At(float64(t * unit))
		f.Line(left, y, right, y, 0.5, Line)
		f.Write(left-5, y+4, SmallSize, End, Soft, number.Axis(t, digits))
	}
	f.Line(left, bottom, right, bottom, 1, Ink)
	f.Write(float64((left+right)/2), bottom+34, SmallSize, Middle, Soft, title)
	return scale
}

// TickStep returns the distance between labelled numbers on an axis of whole numbers. It is the
// least of 1, 2, 5, 10, 20, ... for which there are at most maxLabels labels. The parameter numbers
// is the number of whole numbers on the axis.
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

// A Slice is one of the parts into which [Figure.Stack] divides a bar.
type Slice struct {
	Name  string  // name of the slice
	Share string  // share of the bar, as text
	Size  float64 // size in any unit; only the ratios of sizes matter
}

// leastStackTexts is the least height of a bar of [Figure.Stack] with texts in it.
const leastStackTexts = 20

// Stack draws a bar divided into slices, side by side. If the bar has a height of at least
// leastStackTexts, names and shares are written into the slices that are wide enough. Even the smallest slice is visible. The parameter colours maps the name of
// a slice to its colour.
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
		if height >= leastStackTexts && TextWidth(p.Share, SmallSize) <= w-4 {
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

// KeyOf adds a key that explains the meaning of a colour.
func (f *Figure) KeyOf(text string, paint Paint) {
	f.Key(text, func(f *Figure, x, y float64) { f.Rect(x, y, 20, 10, paint) })
}

// A Palette assigns colours to ingredients. First it assigns each plain colour once, then each
// colour with a band once, and then greys. The colour of an ingredient never changes. The zero
// Palette has assigned no colours.
type Palette[N int | float64] struct {
	paints        map[string]Paint // maps the name of an ingredient to its colour
	greysAssigned int
}

// Add assigns colours to ingredients of the given compositions that have no colour yet. Ingredients
// with the largest total amounts get their colours first. Each composition maps the name of an
// ingredient to its amount.
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

// Paints returns a map from the name of an ingredient to its colour.
func (p *Palette[N]) Paints() map[string]Paint { return maps.Clone(p.paints) }

// Colours assigns a colour to each ingredient of the given compositions, as [Palette] does. It
// returns a map from the name of an ingredient to its colour.
func Colours[N int | float64](list []map[string]N) map[string]Paint {
	var p Palette[N]
	p.Add(list)
	return p.paints
}
