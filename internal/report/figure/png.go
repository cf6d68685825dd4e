//go:build !browser

package figure

import (
	"fmt"
	"image/color"
	"io"
	"strconv"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
)

// liberationFonts holds the regular and the bold font of PNG files.
type liberationFonts [2]*sfnt.Font

// loadLiberationFonts parses the embedded fonts. Only [WritePNG] calls it, so a program that writes
// no PNG files loads no fonts.
func loadLiberationFonts() (l liberationFonts, err error) {
	for k, ttf := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		if l[k], err = sfnt.Parse(ttf); err != nil {
			return l, err
		}
	}
	return l, nil
}

// font returns the regular or the bold font.
func (l liberationFonts) font(bold bool) *sfnt.Font {
	if bold {
		return l[1]
	}
	return l[0]
}

// toPixels converts a length in CSS pixels to pixels of a PNG file.
func toPixels(px float64) float64 { return float64(px * 2.5) }

// WritePNG writes a figure with its title as a PNG file, on a white background. The font is
// Liberation Sans, which has Latin, Greek and Cyrillic letters; other characters are missing.
func WritePNG(w io.Writer, f *Figure) error {
	fonts, err := loadLiberationFonts()
	if err != nil {
		return err
	}
	g := f.withTitleAndKeys()
	c := gg.NewContext(int(toPixels(g.Width)+0.5), int(toPixels(g.Height)+0.5))
	c.SetColor(color.White)
	c.Clear()
	c.SetLineCapButt()
	for _, m := range g.marks {
		if err := m.paintOn(c, fonts); err != nil {
			return err
		}
	}
	return c.EncodePNG(w)
}

// paintOn draws the mark on the image c.
func (m *mark) paintOn(c *gg.Context, fonts liberationFonts) error {
	c.SetColor(m.colourOnWhite())
	c.SetLineWidth(toPixels(m.width))
	c.SetDash()
	if m.dashed {
		c.SetDash(toPixels(4), toPixels(3))
	}
	switch m.kind {
	case rectMark:
		c.DrawRectangle(toPixels(m.x), toPixels(m.y), toPixels(m.x2), toPixels(m.y2))
		if !m.outlineGround {
			c.Fill()
			break
		}
		c.FillPreserve()
		c.SetColor(color.White)
		c.SetLineWidth(toPixels(1))
		c.Stroke()
	case lineMark:
		c.DrawLine(toPixels(m.x), toPixels(m.y), toPixels(m.x2), toPixels(m.y2))
		c.Stroke()
	case pathMark:
		for k := 0; k+1 < len(m.points); k += 2 {
			c.LineTo(toPixels(m.points[k]), toPixels(m.points[k+1]))
		}
		c.Stroke()
	case areaMark:
		for k := 0; k+1 < len(m.points); k += 2 {
			c.LineTo(toPixels(m.points[k]), toPixels(m.points[k+1]))
		}
		c.ClosePath()
		c.Fill()
	case dotMark:
		c.DrawCircle(toPixels(m.x), toPixels(m.y), toPixels(m.x2))
		c.Fill()
	case ringMark:
		c.DrawCircle(toPixels(m.x), toPixels(m.y), toPixels(m.x2))
		c.Stroke()
	case textMark:
		const pointsPerInch = 72 // so that the size is in pixels
		face, err := opentype.NewFace(fonts.font(m.bold), &opentype.FaceOptions{Size: toPixels(m.size), DPI: pointsPerInch})
		if err != nil {
			return err
		}
		c.SetFontFace(face)
		draw := func(dx, dy float64) {
			c.DrawStringAnchored(m.text, toPixels(m.x+dx), toPixels(m.y+dy), [...]float64{Start: 0, Middle: 0.5, End: 1}[m.anchor], 0)
		}
		if m.outlineGround {
			c.SetColor(color.White)
			for _, d := range [][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
				draw(d[0], d[1])
			}
			c.SetColor(m.colourOnWhite())
		}
		draw(0, 0)
		return face.Close()
	}
	return nil
}

// colourOnWhite returns the colour of the mark on a white page.
func (m *mark) colourOnWhite() color.NRGBA {
	hex := ""
	switch {
	case m.usesTextColourOfPaint:
		_, hex = m.paint.Hex()
	case m.paint >= firstFixedPaint:
		hex, _ = m.paint.Hex()
	default:
		hex = lightColours[m.paint]
	}
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		panic(fmt.Sprintf("figure: the paint %q is no colour", hex))
	}
	c := color.NRGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
	switch {
	case m.translucent:
		c.A = 64
	case m.opacity > 0:
		c.A = uint8(float64(255 * m.opacity))
	}
	return c
}
