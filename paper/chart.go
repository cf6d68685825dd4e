package paper

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colours that readers with any kind of colour vision can tell apart (Okabe and
// Ito 2008, "Color Universal Design").
var (
	black      = color.RGBA{0, 0, 0, 255}
	orange     = color.RGBA{230, 159, 0, 255}
	skyBlue    = color.RGBA{86, 180, 233, 255}
	green      = color.RGBA{0, 158, 115, 255}
	yellow     = color.RGBA{240, 228, 66, 255}
	blue       = color.RGBA{0, 114, 178, 255}
	vermillion = color.RGBA{213, 94, 0, 255}
	purple     = color.RGBA{204, 121, 167, 255}
	white      = color.RGBA{255, 255, 255, 255}
	paleGrey   = color.RGBA{225, 225, 225, 255}
)

// pageWidth is how wide a picture is: the text of an A4 page.
const pageWidth = 17 * vg.Centimeter

// face is the fonts of pictures.
func face(points float64, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

// writing is how text looks.
func writing(points float64, bold bool, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: black, Font: face(points, bold), XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// newPlot returns a plot in the one style of all pictures.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(3)
	p.Title.TextStyle.Font = face(8.5, true)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = face(8.5, false)
		a.Label.Padding = vg.Points(2)
		a.Tick.Label.Font = face(7.5, false)
		a.Tick.LineStyle.Width = vg.Points(0.5)
		a.Tick.Length = vg.Points(3)
		a.LineStyle.Width = vg.Points(0.5)
		a.Padding = 0
	}
	return p
}

// integerTicks marks integers, as many as fit.
func integerTicks(lo, hi int) plot.ConstantTicks {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 50, 100} {
		step = s
		if (hi-lo)/s < 12 {
			break
		}
	}
	var ticks plot.ConstantTicks
	for n := (lo + step - 1) / step * step; n <= hi; n += step {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
	}
	return ticks
}

// percentTicks marks round numbers from 0 to hi, at most seven of them.
func percentTicks(hi float64) plot.ConstantTicks {
	const most = 6 // steps
	step, digits := 1.0, 0
	if hi > 0 {
		for hi < step {
			step /= 10
			digits++
		}
		step /= 10
		digits++
	}
	for k := 0; hi/step > most; k++ {
		if k%3 == 1 { // 1, 2, 5, 10
			step *= 2.5
		} else {
			step *= 2
		}
		if k%3 == 2 {
			digits = max(0, digits-1)
		}
	}
	var ticks plot.ConstantTicks
	for k := 0; float64(k)*step <= hi; k++ {
		ticks = append(ticks, plot.Tick{Value: float64(k) * step, Label: decimals(float64(k)*step, digits)})
	}
	return ticks
}

// A hatch is how an area is filled beside its colour, so that areas can be
// told apart without it.
type hatch int

const (
	plain hatch = iota
	rising
	falling
	crossed
	level
)

// A fill is how an area looks.
type fill struct {
	color color.Color
	hatch hatch
}

// area draws a filled rectangle.
func area(c draw.Canvas, f fill, lo, hi vg.Point) {
	corners := []vg.Point{lo, {X: hi.X, Y: lo.Y}, hi, {X: lo.X, Y: hi.Y}}
	c.FillPolygon(f.color, corners)
	line := draw.LineStyle{Color: black, Width: vg.Points(0.35)}
	if f.hatch == rising || f.hatch == crossed {
		stripes(c, line, lo, hi, 1)
	}
	if f.hatch == falling || f.hatch == crossed {
		stripes(c, line, lo, hi, -1)
	}
	if f.hatch == level {
		for y := gridFrom(lo.Y); y < hi.Y; y += hatchStep {
			c.StrokeLine2(line, lo.X, y, hi.X, y)
		}
	}
	c.StrokeLines(draw.LineStyle{Color: black, Width: vg.Points(0.4)}, append(corners, corners[0]))
}

const hatchStep = vg.Length(3.2)

// gridFrom returns the first multiple of the step above x.
func gridFrom(x vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(x/hatchStep))+1) * hatchStep
}

// stripes draws the lines y = ±x + c that cross a rectangle, c being multiples
// of a step, so that they continue from one rectangle to the next.
func stripes(c draw.Canvas, line draw.LineStyle, lo, hi vg.Point, slope vg.Length) {
	step := hatchStep * math.Sqrt2
	first, last := lo.Y-hi.X, hi.Y-lo.X // of y − x
	if slope < 0 {
		first, last = lo.Y+lo.X, hi.Y+hi.X // of y + x
	}
	for k := math.Ceil(float64(first / step)); vg.Length(k)*step <= last; k++ {
		at := vg.Length(k) * step
		// Where the line enters and leaves, by x.
		from, to := (lo.Y-at)/slope, (hi.Y-at)/slope
		from, to = max(lo.X, min(from, to)), min(hi.X, max(from, to))
		if from < to {
			c.StrokeLine2(line, from, slope*from+at, to, slope*to+at)
		}
	}
}

// bars draws rectangles from 0 up, each with an error bar of one standard
// deviation to either side, cut off at 0 and at 100.
type bars struct {
	fill        fill
	centres     []float64
	heights     []float64
	errors      []float64
	left, right float64 // edges of a bar, from its centre
}

func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = math.Inf(1), math.Inf(-1)
	for k, x := range b.centres {
		xmin, xmax = min(xmin, x+b.left), max(xmax, x+b.right)
		ymax = max(ymax, min(100, b.heights[k]+b.errors[k]))
	}
	return xmin, xmax, 0, ymax
}

func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for k, x := range b.centres {
		if b.heights[k] > 0 {
			area(c, b.fill, vg.Point{X: trX(x + b.left), Y: trY(0)}, vg.Point{X: trX(x + b.right), Y: trY(b.heights[k])})
		}
	}
	line := draw.LineStyle{Color: black, Width: vg.Points(0.7)}
	for k, x := range b.centres {
		if b.errors[k] == 0 {
			continue
		}
		middle := x + (b.left+b.right)/2
		lo, hi := trY(max(0, b.heights[k]-b.errors[k])), trY(min(100, b.heights[k]+b.errors[k]))
		half := min(vg.Points(2), (trX(x+b.right)-trX(x+b.left))/3)
		c.StrokeLine2(line, trX(middle), lo, trX(middle), hi)
		c.StrokeLine2(line, trX(middle)-half, lo, trX(middle)+half, lo)
		c.StrokeLine2(line, trX(middle)-half, hi, trX(middle)+half, hi)
	}
}

// A key says what a mark in a picture stands for.
type key struct {
	text string
	mark func(c draw.Canvas, lo, hi vg.Point)
}

// areaKey is the key of an area.
func areaKey(name string, f fill) key {
	return key{name, func(c draw.Canvas, lo, hi vg.Point) { area(c, f, lo, hi) }}
}

// lineKey is the key of a line, with a glyph if it has one.
func lineKey(name string, style draw.LineStyle, glyph *draw.GlyphStyle) key {
	return key{name, func(c draw.Canvas, lo, hi vg.Point) {
		middle := (lo.Y + hi.Y) / 2
		c.StrokeLine2(style, lo.X, middle, hi.X, middle)
		if glyph != nil {
			c.DrawGlyph(*glyph, vg.Point{X: (lo.X + hi.X) / 2, Y: middle})
		}
	}}
}

// errorKey is the key of an error bar.
func errorKey(name string) key {
	line := draw.LineStyle{Color: black, Width: vg.Points(0.7)}
	return key{name, func(c draw.Canvas, lo, hi vg.Point) {
		x, half := (lo.X+hi.X)/2, vg.Points(2)
		c.StrokeLine2(line, x, lo.Y, x, hi.Y)
		c.StrokeLine2(line, x-half, lo.Y, x+half, lo.Y)
		c.StrokeLine2(line, x-half, hi.Y, x+half, hi.Y)
	}}
}

const (
	keyWidth  = vg.Length(18)
	keyHeight = vg.Length(8)
	keyGap    = vg.Length(4)
)

// keyRow draws keys side by side, centred.
func keyRow(c draw.Canvas, keys []key) {
	style := writing(8, false, text.XLeft, text.YCenter)
	total := vg.Length(0)
	for _, k := range keys {
		total += keyWidth + keyGap + style.Width(k.text) + 4*keyGap
	}
	x := c.Center().X - (total-4*keyGap)/2
	y := c.Center().Y
	for _, k := range keys {
		k.mark(c, vg.Point{X: x, Y: y - keyHeight/2}, vg.Point{X: x + keyWidth, Y: y + keyHeight/2})
		x += keyWidth + keyGap
		c.FillText(style, vg.Point{X: x, Y: y}, k.text)
		x += style.Width(k.text) + 4*keyGap
	}
}

// keyColumn draws keys one below the other, from the top.
func keyColumn(c draw.Canvas, keys []key) {
	style := writing(7.5, false, text.XLeft, text.YCenter)
	line := min(vg.Length(13), (c.Max.Y-c.Min.Y)/vg.Length(len(keys)))
	y := c.Max.Y - line/2
	for _, k := range keys {
		k.mark(c, vg.Point{X: c.Min.X, Y: y - line*0.36}, vg.Point{X: c.Min.X + keyWidth, Y: y + line*0.36})
		c.FillText(style, vg.Point{X: c.Min.X + keyWidth + keyGap, Y: y}, k.text)
		y -= line
	}
}

// A Picture is a figure, drawn.
type Picture struct {
	Name string // of the files, without extension
	Text string // what it shows, for who cannot see it
	SVG  []byte // a document of its own
	PNG  []byte // 200 dots per inch
}

// render draws a picture as SVG and as PNG.
func render(name, alt string, width, height vg.Length, paint func(c draw.Canvas) error) (Picture, error) {
	p := Picture{Name: name, Text: alt}
	fail := func(err error) (Picture, error) {
		return Picture{}, fmt.Errorf("figure %s: %w", name, err)
	}
	svg := vgsvg.New(width, height)
	if err := paint(draw.New(svg)); err != nil {
		return fail(err)
	}
	var b bytes.Buffer
	if _, err := svg.WriteTo(&b); err != nil {
		return fail(err)
	}
	// Arial and Helvetica are as wide as Liberation Sans, letter by letter.
	p.SVG = bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))

	png := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(200))
	if err := paint(draw.New(png)); err != nil {
		return fail(err)
	}
	b = bytes.Buffer{}
	if _, err := (vgimg.PngCanvas{Canvas: png}).WriteTo(&b); err != nil {
		return fail(err)
	}
	p.PNG = b.Bytes()
	return p, nil
}

// shown makes text from a book fit to be shown: control characters become a
// sign that something is there.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// label makes a name fit for a picture: control characters are left out, and a
// long one is cut.
func label(name string, longest int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if len(runes) > longest {
		runes = append(runes[:longest-1], '…')
	}
	return string(runes)
}
