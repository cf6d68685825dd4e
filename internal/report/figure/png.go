package figure

import (
	"fmt"
	"image/color"
	"io"
	"strconv"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font/opentype"
)

// dots is how many pixels of an image a CSS pixel is wide.
const dots = 2.5

// WritePNG writes the figure as a file with its title, on white. Letters are
// those of Liberation Sans (Latin, Greek, Cyrillic); it has no others.
func (f *Figure) WritePNG(w io.Writer) error {
	g := f.alone()
	c := gg.NewContext(int(g.Width*dots+0.5), int(g.Height*dots+0.5))
	c.SetColor(color.White)
	c.Clear()
	c.SetLineCapButt()
	for _, m := range g.marks {
		if err := m.paintOn(c); err != nil {
			return err
		}
	}
	return c.EncodePNG(w)
}

// paintOn draws the mark on an image.
func (m *mark) paintOn(c *gg.Context) error {
	c.SetColor(m.color())
	c.SetLineWidth(m.width * dots)
	c.SetDash()
	if m.dash {
		c.SetDash(4*dots, 3*dots)
	}
	switch m.kind {
	case rect:
		c.DrawRectangle(m.x*dots, m.y*dots, m.x2*dots, m.y2*dots)
		if !m.outlineGround {
			c.Fill()
			break
		}
		c.FillPreserve()
		c.SetColor(color.White)
		c.SetLineWidth(dots)
		c.Stroke()
	case line:
		c.DrawLine(m.x*dots, m.y*dots, m.x2*dots, m.y2*dots)
		c.Stroke()
	case path:
		for k := 0; k+1 < len(m.points); k += 2 {
			c.LineTo(m.points[k]*dots, m.points[k+1]*dots)
		}
		c.Stroke()
	case dot:
		c.DrawCircle(m.x*dots, m.y*dots, m.x2*dots)
		c.Fill()
	case ring:
		c.DrawCircle(m.x*dots, m.y*dots, m.x2*dots)
		c.Stroke()
	case label:
		const pointsPerInch = 72 // so that the size is in pixels
		face, err := opentype.NewFace(liberation(m.bold), &opentype.FaceOptions{Size: m.size * dots, DPI: pointsPerInch})
		if err != nil {
			return err
		}
		c.SetFontFace(face)
		c.DrawStringAnchored(m.text, m.x*dots, m.y*dots, [...]float64{Start: 0, Middle: 0.5, End: 1}[m.anchor], 0)
		return face.Close()
	}
	return nil
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
