// Package figure draws small charts: as SVG elements of a page, which sets their colours, and as
// separate SVG and PNG files. A [Figure] is a list of marks such as lines and texts. Coordinates
// are CSS pixels, with y pointing down. A figure also has a description in words for readers who
// cannot see it. The package knows nothing about the subject of a chart.
package figure

import (
	"strings"
	"unicode"
)

// A Figure is a drawing and its description in words.
type Figure struct {
	Name   string  // name of the figure's files without extension: letters, digits and hyphens
	Title  string  // title in one line
	Text   string  // description in words of what the figure shows
	Width  float64 // width in CSS pixels
	Height float64 // height in CSS pixels

	marks []mark      // drawn elements, in the order of drawing
	keys  []figureKey // explanations of the marks that are not placed yet
}

// A Paint is the colour of a mark. The first six paints depend on whether the page is light or
// dark. The others are fixed: they are the same on any page.
type Paint uint8

// The paints that depend on whether the page is light or dark.
const (
	Ink             Paint = iota // colour of text and of marks that stand out
	Soft                         // colour of less important text
	Line                         // colour of axes and grid lines
	Shade                        // colour of areas without data
	Ground                       // background colour of the page
	Accent                       // colour of data
	firstFixedPaint              // number of the first fixed paint
)

// Numbers of colours in the palette of [Colour].
const (
	plainColourCount = 12                   // number of colours besides the greys; each of them occurs plain and with a band along the lower edge
	firstGrey        = 2 * plainColourCount // number of the first grey
	greyCount        = 2                    // number of greys
)

// ColourCount is the number of different paints that [Colour] returns.
const ColourCount = firstGrey + greyCount

// Colour returns paint k of a palette that readers with any kind of colour vision can distinguish.
//
// The first seven colours are those of Okabe and Ito (2008, "Color Universal Design"), without
// black. Each of the next five differs from all colours before it at least as much as the first
// seven differ from each other. From k = 12 on the twelve colours repeat with a band along the
// lower edge. The last two paints are greys, for items without a colour of their own.
func Colour(k int) Paint { return firstFixedPaint + Paint(min(k, ColourCount-1)) }

// Grey is the index k of the first grey in [Colour].
const Grey = firstGrey

// fixedPaints holds the colours of the fixed paints, each with the colour in which text on the
// paint is most readable.
var fixedPaints = [plainColourCount + greyCount]struct{ fill, text string }{
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

// Banded reports whether a paint has a band along its lower edge, in the colour of text on the
// paint.
func (p Paint) Banded() bool {
	return p >= firstFixedPaint+plainColourCount && p < firstFixedPaint+firstGrey
}

// Hex returns the colour of a fixed paint as #rrggbb, and the colour in which text on the paint is
// most readable. It is for explanations of colours outside the figure.
func (p Paint) Hex() (fill, text string) {
	k := p.Index()
	if k >= plainColourCount {
		k -= plainColourCount
	}
	return fixedPaints[k].fill, fixedPaints[k].text
}

// Index returns the number k for which [Colour] returns the paint.
func (p Paint) Index() int { return int(p - firstFixedPaint) }

// An Anchor says which point of a text has the given coordinates: its start, its middle or its end.
type Anchor uint8

// The anchors of a text.
const (
	Start Anchor = iota
	Middle
	End
)

// markKind is the kind of a mark: something that is drawn, or the start or end of a group of marks.
type markKind uint8

const (
	rectMark markKind = iota
	lineMark
	pathMark // an open line through points
	dotMark
	ringMark
	textMark
	areaMark // a filled polygon
	groupStart
	groupEnd
)

// A mark is one drawn element of a figure.
type mark struct {
	kind                  markKind
	x                     float64   // horizontal position
	y                     float64   // vertical position
	x2                    float64   // end of a line, width of a rectangle, or radius of a circle
	y2                    float64   // end of a line, or height of a rectangle
	points                []float64 // points of a path or corners of an area as x, y, x, y, ...
	paint                 Paint
	usesTextColourOfPaint bool    // whether the mark has the colour of text on paint instead of the colour paint
	width                 float64 // width of a line
	dashed                bool    // whether the line is dashed
	translucent           bool    // whether the colour is translucent
	opacity               float64 // opacity of the colour; 0 stands for 1
	text                  string  // text, or what a page shows while the pointer is over a group
	entry                 string  // entry of the shortlist that a group shows
	anchor                Anchor
	size                  float64 // size of the text
	bold                  bool
	outlineGround         bool // whether the rectangle or text has an outline in the background colour
}

// A figureKey is an example of a mark with a text that explains its meaning.
type figureKey struct {
	draw func(f *Figure, x, y float64) // draws the example in an area of 20 by 10 pixels with its upper left corner at x, y
	text string
}

// Rect fills a rectangle. The point x, y is its upper left corner.
func (f *Figure) Rect(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rectMark, x: x, y: y, x2: width, y2: height, paint: p})
	f.drawBand(x, y, width, height, p)
}

// drawBand draws the band along the lower edge of a rectangle, if the paint p has one.
func (f *Figure) drawBand(x, y, width, height float64, p Paint) {
	if p.Banded() {
		high := max(2, height/8)
		f.marks = append(f.marks, mark{kind: rectMark, x: x, y: y + height - high, x2: width, y2: high, paint: p, usesTextColourOfPaint: true})
	}
}

// Segment fills a rectangle that touches other rectangles. A thin outline in the background colour
// separates them.
func (f *Figure) Segment(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rectMark, x: x, y: y, x2: width, y2: height, paint: p, outlineGround: true})
	f.drawBand(x, y, width, height, p)
}

// FillTranslucent fills a rectangle with a translucent paint.
func (f *Figure) FillTranslucent(x, y, width, height float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rectMark, x: x, y: y, x2: width, y2: height, paint: p, translucent: true})
}

// FillShade fills a rectangle with a paint of the given opacity, above 0 and at most 1.
func (f *Figure) FillShade(x, y, width, height, opacity float64, p Paint) {
	f.marks = append(f.marks, mark{kind: rectMark, x: x, y: y, x2: width, y2: height, paint: p, opacity: opacity})
}

// Line draws a straight line.
func (f *Figure) Line(x1, y1, x2, y2, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: lineMark, x: x1, y: y1, x2: x2, y2: y2, width: width, paint: p})
}

// Dashed draws a dashed straight line.
func (f *Figure) Dashed(x1, y1, x2, y2, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: lineMark, x: x1, y: y1, x2: x2, y2: y2, width: width, paint: p, dashed: true})
}

// Path draws a line through points, given as x, y, x, y, ...
func (f *Figure) Path(points []float64, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: pathMark, points: points, width: width, paint: p})
}

// DashedPath draws a dashed line through points, given as x, y, x, y, ...
func (f *Figure) DashedPath(points []float64, width float64, p Paint) {
	f.marks = append(f.marks, mark{kind: pathMark, points: points, width: width, paint: p, dashed: true})
}

// FillArea fills a polygon with a translucent paint. Its corners are given as x, y, x, y, ...
func (f *Figure) FillArea(corners []float64, p Paint) {
	f.marks = append(f.marks, mark{kind: areaMark, points: corners, paint: p, translucent: true})
}

// Group draws marks that belong together. A page shows the text hover while the pointer is over
// one of them. If entry is not empty, it names what the marks show: a page can find all marks with
// the same entry by the attribute data-entry.
func (f *Figure) Group(entry, hover string, draw func()) {
	f.marks = append(f.marks, mark{kind: groupStart, entry: entry, text: printable(hover)})
	draw()
	f.marks = append(f.marks, mark{kind: groupEnd})
}

// Dot draws a filled circle.
func (f *Figure) Dot(x, y, radius float64, p Paint) {
	f.marks = append(f.marks, mark{kind: dotMark, x: x, y: y, x2: radius, paint: p})
}

// Ring draws an open circle.
func (f *Figure) Ring(x, y, radius float64, p Paint) {
	f.marks = append(f.marks, mark{kind: ringMark, x: x, y: y, x2: radius, width: 1.5, paint: p})
}

// Write draws text whose base line is at y. It leaves out control characters.
func (f *Figure) Write(x, y, size float64, a Anchor, p Paint, text string) {
	f.marks = append(f.marks, mark{kind: textMark, x: x, y: y, size: size, anchor: a, paint: p, text: printable(text)})
}

// WriteBold draws bold text; see [Figure.Write].
func (f *Figure) WriteBold(x, y, size float64, a Anchor, p Paint, text string) {
	f.Write(x, y, size, a, p, text)
	f.marks[len(f.marks)-1].bold = true
}

// WriteOver draws text with an outline in the background colour, so that it can be read over lines
// and dots; see [Figure.Write].
func (f *Figure) WriteOver(x, y, size float64, a Anchor, p Paint, text string) {
	f.Write(x, y, size, a, p, text)
	f.marks[len(f.marks)-1].outlineGround = true
}

// WriteOn draws text on an area of a fixed paint, in the colour that is most readable on the area;
// see [Figure.Write].
func (f *Figure) WriteOn(x, y, size float64, a Anchor, area Paint, text string) {
	f.Write(x, y, size, a, area, text)
	f.marks[len(f.marks)-1].usesTextColourOfPaint = true
}

// Key adds a text that explains a mark, with an example of the mark. The function draw draws the
// example in an area of 20 by 10 pixels. The keys appear in separate files of the figure, and in a
// page only after a call of [Figure.PlaceKeys].
func (f *Figure) Key(text string, draw func(f *Figure, x, y float64)) {
	f.keys = append(f.keys, figureKey{draw, text})
}

// PlaceKeys places the keys in rows below the drawing and increases the height of the figure.
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

// printable removes characters that cannot be printed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}
