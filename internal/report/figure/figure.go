// Package figure draws small charts: as SVG for a page, which sets their colours, and as
// stand-alone SVG and PNG files.
//
// A [Figure] is a list of marks in CSS pixels, with y pointing down. It has a description in words
// for readers who cannot see it. The package knows nothing about its subject.
package figure

import (
	"strings"
	"unicode"
)

// A Figure is a drawing and its description in words.
type Figure struct {
	Name   string // of files, without extension: letters, digits and hyphens
	Title  string // a line
	Text   string // what it shows
	Width  float64
	Height float64

	marks []mark
	keys  []key
}

// A Paint is a colour of the palette. The first few follow the page, dark on
// light or light on dark; the others are the same on both.
type Paint uint8

// The paints.
const (
	Ink    Paint = iota // text and what stands out
	Soft                // text that explains
	Line                // axes and grids
	Shade               // areas that are no data
	Ground              // the page
	Accent              // data
	first               // of the fixed ones
)

// hueCount is the number of fixed colours besides the greys. As many again have the same colours
// with a band along their lower edge.
const (
	hueCount  = 12
	greyFrom  = 2 * hueCount
	greyCount = 2
)

// ColourCount is the number of different results of [Colour].
const ColourCount = greyFrom + greyCount

// Colour returns colour k of a palette that readers with any kind of colour vision can distinguish.
// The first seven are those of Okabe and Ito (2008, "Color Universal Design"), without black. Each
// other colour differs from all before it at least as much as these differ from each other. From
// the 13th on colours have a band, which distinguishes them from the first ones. The last two are
// greys, for items without a colour of their own.
func Colour(k int) Paint { return first + Paint(min(k, ColourCount-1)) }

// Grey is the number of the first grey.
const Grey = greyFrom

// fixed are the paints that do not depend on the page, with the most readable text colour on each.
var fixed = [hueCount + greyCount]struct{ fill, text string }{
	{"#0072b2", "#ffffff"}, // blue
	{"#e69f00", "#000000"}, // orange
	{"#009e73", "#000000"}, // green
	{"#cc79a7", "#000000"}, // purple
	{"#56b4e9", "#000000"}, // sky blue
	{"#d55e00", "#000000"}, // vermillion
	{"#f0e442", "#000000"}, // yellow
	{"#1e0fb4", "#ffffff"}, // indigo
	{"#c3e1b4", "#000000"}, // pale green
	{"#960000", "#ffffff"}, // dark red
	{"#0f5f5f", "#ffffff"}, // teal
	{"#5a2d3c", "#ffffff"}, // plum
	{"#8d8d8d", "#000000"}, // grey
	{"#b9b9b9", "#000000"}, // paler grey
}

// Banded reports whether a paint has a band in the colour of its text.
func (p Paint) Banded() bool { return p >= first+hueCount && p < first+greyFrom }

// Hex returns a fixed paint as #rrggbb, and the text colour on it. It is for keys outside the
// figure.
func (p Paint) Hex() (fill, text string) {
	k := p.Index()
	if k >= hueCount {
		k -= hueCount
	}
	return fixed[k].fill, fixed[k].text
}

// Index returns the number of a fixed paint among them.
func (p Paint) Index() int { return int(p - first) }

// An Anchor is the point of a text that is placed at its coordinates.
type Anchor uint8

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// kind is what a mark is.
type kind uint8

const (
	rect kind = iota
	line
	path // open
	dot
	ring
	label
)

// A mark is one drawn element.
type mark struct {
	kind          kind
	x, y, x2, y2  float64 // of a rectangle: width and height; of a dot: the radius is x2
	points        []float64
	paint         Paint
	onPaint       bool // the colour of text on paint, not paint
	width         float64
	dash, faint   bool
	text          string
	anchor        Anchor
	size          float64
	bold          bool
	outlineGround bool // a hairline of the page's colour around it
}

// A key explains a mark.
type key struct {
	draw func(f *Figure, x, y float64) // in 20 by 10
	text string
}

// Rect fills a rectangle. A hairline separates rectangles that touch.
func (f *Figure) Rect(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rect, x: x, y: y, x2: width, y2: height, paint: p})
	f.band(x, y, width, height, p)
}

// band draws the band that distinguishes a banded paint from the plain one.
func (f *Figure) band(x, y, width, height float64, p Paint) {
	if p.Banded() {
		high := max(2, height/8)
		f.marks = append(f.marks, mark{kind: rect, x: x, y: y + height - high, x2: width, y2: high, paint: p, onPaint: true})
	}
}

// Segment fills a rectangle that touches others, with a hairline around it.
func (f *Figure) Segment(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rect, x: x, y: y, x2: width, y2: height, paint: p, outlineGround: true})
	f.band(x, y, width, height, p)
}

// FillTranslucent fills a rectangle with a translucent paint.
func (f *Figure) FillTranslucent(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rect, x: x, y: y, x2: width, y2: height, paint: p, faint: true})
}

// Line draws a line.
func (f *Figure) Line(x1, y1, x2, y2, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: line, x: x1, y: y1, x2: x2, y2: y2, width: width, paint: p})
}

// Dashed draws a dashed line.
func (f *Figure) Dashed(x1, y1, x2, y2, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: line, x: x1, y: y1, x2: x2, y2: y2, width: width, paint: p, dash: true})
}

// Path draws a line through points x, y, x, y, ...
func (f *Figure) Path(points []float64, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: path, points: points, width: width, paint: p})
}

// Dot draws a filled circle.
func (f *Figure) Dot(x, y, radius float64, p Paint) {
	f.marks = append(f.marks, mark{kind: dot, x: x, y: y, x2: radius, paint: p})
}

// Ring draws an open circle.
func (f *Figure) Ring(x, y, radius float64, p Paint) {
	f.marks = append(f.marks, mark{kind: ring, x: x, y: y, x2: radius, width: 1.5, paint: p})
}

// Write draws text; y is its base line. It leaves out control characters.
func (f *Figure) Write(x, y, size float64, a Anchor, p Paint, text string) {
	f.marks = append(f.marks, mark{kind: label, x: x, y: y, size: size, anchor: a, paint: p, text: printable(text)})
}

// WriteBold is Write in bold.
func (f *Figure) WriteBold(x, y, size float64, a Anchor, p Paint, text string) {
	f.Write(x, y, size, a, p, text)
	f.marks[len(f.marks)-1].bold = true
}

// WriteOn is Write on an area of a fixed paint, in the most readable colour there.
func (f *Figure) WriteOn(x, y, size float64, a Anchor, area Paint, text string) {
	f.Write(x, y, size, a, area, text)
	f.marks[len(f.marks)-1].onPaint = true
}

// Key adds a key to the figure. [Figure.PlaceKeys] places the keys in rows below the drawing.
// Without it they appear only in a stand-alone figure. draw draws a sample in an area of 20 by 10.
func (f *Figure) Key(text string, draw func(f *Figure, x, y float64)) {
	f.keys = append(f.keys, key{draw, text})
}

// PlaceKeys places the keys below the figure and enlarges it.
func (f *Figure) PlaceKeys() {
	const markWidth, gap, row = 20.0, 6.0, 17.0
	x := 0.0
	y := f.Height + 4
	for _, k := range f.keys {
		text := Clip(k.text, f.Width-markWidth-gap, SmallSize)
		width := markWidth + gap + TextWidth(text, SmallSize)
		if x > 0 && x+width > f.Width {
			x = 0
			y += row
		}
		k.draw(f, x, y+2)
		f.Write(x+markWidth+gap, y+11, SmallSize, Start, Soft, text)
		x += width + 3*gap
	}
	if len(f.keys) > 0 {
		f.Height = y + row
	}
	f.keys = nil
}

// printable removes invisible characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}
