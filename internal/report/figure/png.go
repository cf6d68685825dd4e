package figure

import (
	"fmt"
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"kir/internal/portable"
)

// dotsPerInch makes two and a half dots of a CSS pixel.
const dotsPerInch = 240

// points turns CSS pixels, of which an inch has 96, into points.
func points(px float64) vg.Length { return vg.Length(px * 0.75) }

// WritePNG writes the figure as a file with its title, on white. Letters are
// those of Liberation Sans (Latin, Greek, Cyrillic); it has no others.
func (f *Figure) WritePNG(w io.Writer) error {
	g := f.alone()
	image := vgimg.NewWith(vgimg.UseWH(points(g.Width), points(g.Height)), vgimg.UseDPI(dotsPerInch))
	g.paint(draw.New(image))
	_, err := vgimg.PngCanvas{Canvas: image}.WriteTo(w)
	return err
}

// paint draws the marks on a canvas, where y points up.
func (f *Figure) paint(c draw.Canvas) {
	at := func(x, y float64) vg.Point { return vg.Point{X: points(x), Y: points(f.Height - y)} }
	for _, m := range f.marks {
		stroke := draw.LineStyle{Color: m.color(), Width: points(m.width)}
		if m.dash {
			stroke.Dashes = []vg.Length{points(4), points(3)}
		}
		switch m.kind {
		case rect:
			corners := []vg.Point{at(m.x, m.y), at(m.x+m.x2, m.y), at(m.x+m.x2, m.y+m.y2), at(m.x, m.y+m.y2)}
			c.FillPolygon(m.color(), corners)
			if m.outlineGround {
				c.StrokeLines(draw.LineStyle{Color: color.White, Width: points(1)}, append(corners, corners[0]))
			}
		case line:
			c.StrokeLines(stroke, []vg.Point{at(m.x, m.y), at(m.x2, m.y2)})
		case path:
			var line []vg.Point
			for k := 0; k+1 < len(m.points); k += 2 {
				line = append(line, at(m.points[k], m.points[k+1]))
			}
			c.StrokeLines(stroke, line)
		case dot:
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: m.color(), Radius: points(m.x2), Shape: draw.CircleGlyph{}}, at(m.x, m.y))
		case ring:
			const corners = 32
			var circle []vg.Point
			for k := range corners + 1 {
				cos, sin := portable.Circle(k, corners)
				circle = append(circle, at(m.x+float64(m.x2*cos), m.y+float64(m.x2*sin)))
			}
			c.StrokeLines(stroke, circle)
		case label:
			style := text.Style{
				Color: m.color(), Font: liberation(points(m.size), m.bold).Font, Handler: plot.DefaultTextHandler,
				XAlign: [...]text.XAlignment{Start: text.XLeft, Middle: text.XCenter, End: text.XRight}[m.anchor], YAlign: text.YBottom,
			}
			p := at(m.x, m.y)
			p.Y -= style.FontExtents().Descent // the bottom of the line, below the base line
			c.FillText(style, p, m.text)
		}
	}
}

// color returns the mark's colour on white.
func (m *mark) color() color.NRGBA {
	hex := ""
	switch {
	case m.onPaint:
		_, hex = m.paint.Hex()
	case m.paint >= first:
		hex, _ = m.paint.Hex()
	default:
		hex = light[m.paint]
	}
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		panic(fmt.Sprintf("figure: the paint %q is no colour", hex))
	}
	c := color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
	if m.faint {
		c.A = 64
	}
	return c
}
