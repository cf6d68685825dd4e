package figure

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// paintClasses holds the names of the paints that depend on the page, as used in style sheets.
var paintClasses = [...]string{Ink: "ink", Soft: "soft", Line: "line", Shade: "shade", Ground: "ground", Accent: "accent"}

// Style returns the style sheet for figures in a page. The page must define the CSS variables
// --ink, --soft, --line, --shade, --ground and --accent, for example with [Variables].
func Style() string {
	var b strings.Builder
	for _, c := range paintClasses {
		fmt.Fprintf(&b, ".f-%[1]s{fill:var(--%[1]s)}.s-%[1]s{stroke:var(--%[1]s);fill:none}", c)
	}
	return b.String() + ".faint{fill-opacity:.25}text{unicode-bidi:plaintext}"
}

// Colours of the paints that depend on the page.
var (
	lightColours = [...]string{Ink: "#1a1a1a", Soft: "#555555", Line: "#b4b4b4", Shade: "#e9e9e6", Ground: "#ffffff", Accent: "#0072b2"} // colours on light pages
	darkColours  = [...]string{Ink: "#e8e8e6", Soft: "#b4b4b0", Line: "#5a5f63", Shade: "#33373a", Ground: "#16181a", Accent: "#56b4e9"} // colours on dark pages
)

// svgFontFamilies lists fonts whose characters have the widths that [TextWidth] assumes. If a
// reader has none of these fonts, the text is stretched or compressed to the same width.
const svgFontFamilies = `"Liberation Sans",Arial,Helvetica,sans-serif`

// Variables returns the definitions of the CSS variables that [Style] uses, for a light and for a
// dark page.
func Variables() (onLight, onDark string) {
	declare := func(colours [firstFixedPaint]string) string {
		var b strings.Builder
		for p, c := range colours {
			fmt.Fprintf(&b, "--%s:%s;", paintClasses[p], c)
		}
		return b.String()
	}
	return declare(lightColours), declare(darkColours)
}

// SVG returns the figure as an SVG element of a page. The ids of elements begin with the name of
// the figure, so the names of figures in a page must differ.
func (f *Figure) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %[3]s-text">`, formatCoordinate(f.Width), formatCoordinate(f.Height), escape(f.Name))
	fmt.Fprintf(&b, `<title id="%s-title">%s</title><desc id="%[1]s-text">%[3]s</desc>`, escape(f.Name), escape(f.Title), escape(f.Text))
	f.writeMarks(&b)
	b.WriteString("</svg>")
	return b.String()
}

// Sizes for a figure in a file of its own, in CSS pixels.
const (
	titleSize    = 13.0 // text size of the title
	titleHeight  = 26.0 // height of the area for the title
	figureMargin = 12.0 // width of the margin around the figure
)

// withTitleAndKeys returns a copy of the figure for a file of its own: with its title, a margin,
// and the keys that were not placed.
func (f *Figure) withTitleAndKeys() *Figure {
	copied := *f
	f = &copied
	f.marks = slices.Clone(f.marks)
	f.PlaceKeys()
	g := &Figure{Name: f.Name, Title: f.Title, Text: f.Text, Width: f.Width + 2*figureMargin, Height: f.Height + titleHeight + 2*figureMargin}
	g.Rect(0, 0, g.Width, g.Height, Ground)
	g.WriteBold(figureMargin, figureMargin+titleSize, titleSize, Start, Ink, clipText(f.Title, f.Width, titleSize, true))
	for _, m := range f.marks {
		m.x += figureMargin
		m.y += figureMargin + titleHeight
		if m.kind == lineMark {
			m.x2 += figureMargin
			m.y2 += figureMargin + titleHeight
		}
		moved := make([]float64, len(m.points))
		for k := range moved {
			moved[k] = m.points[k] + figureMargin
			if k%2 == 1 {
				moved[k] += titleHeight
			}
		}
		m.points = moved
		g.marks = append(g.marks, m)
	}
	return g
}

// svgFileStart is the beginning of an SVG file of a figure. It is followed by the width, the height
// and the role, and then by svgTitleStart.
const (
	svgFileStart  = `<svg xmlns="http://www.w3.org/2000/svg" `
	svgTitleStart = `aria-labelledby="t d"><title id="t">`
)

// WriteSVG writes a figure with its title as an SVG file. The colours are those for a light or a
// dark page, as the reader's system prefers.
func WriteSVG(w io.Writer, f *Figure) error {
	g := f.withTitleAndKeys()
	var b strings.Builder
	fmt.Fprintf(&b, svgFileStart+`width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img" `+svgTitleStart, formatCoordinate(g.Width), formatCoordinate(g.Height))
	fmt.Fprintf(&b, `%s</title><desc id="d">%s</desc>`, escape(g.Title), escape(g.Text))
	onLight, onDark := Variables()
	fmt.Fprintf(&b, `<style>svg{%sfont-family:%s}@media(prefers-color-scheme:dark){svg{%s}}%s</style>`, onLight, escape(svgFontFamilies), onDark, Style())
	g.writeMarks(&b)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarks writes the marks as SVG elements.
func (f *Figure) writeMarks(b *strings.Builder) {
	for _, m := range f.marks {
		switch m.kind {
		case rectMark:
			fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2), formatCoordinate(m.y2))
			m.writeFill(b)
			if m.outlineGround {
				b.WriteString(` stroke="var(--ground)"`)
			}
			b.WriteString("/>")
		case lineMark:
			fmt.Fprintf(b, `<path d="M%s %sL%s %s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2), formatCoordinate(m.y2))
			m.writeStroke(b)
			b.WriteString("/>")
		case pathMark:
			b.WriteString(`<path d="`)
			writePoints(b, m.points)
			b.WriteByte('"')
			m.writeStroke(b)
			b.WriteString(` stroke-linejoin="round"/>`)
		case areaMark:
			b.WriteString(`<path d="`)
			writePoints(b, m.points)
			b.WriteString(`Z"`)
			m.writeFill(b)
			b.WriteString("/>")
		case groupStart:
			b.WriteString("<g")
			if m.entry != "" {
				fmt.Fprintf(b, ` data-entry="%s"`, escape(m.entry))
			}
			fmt.Fprintf(b, "><title>%s</title>", escape(m.text))
		case groupEnd:
			b.WriteString("</g>")
		case dotMark:
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2))
			m.writeFill(b)
			b.WriteString("/>")
		case ringMark:
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2))
			m.writeStroke(b)
			b.WriteString("/>")
		case textMark:
			fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.size))
			if m.anchor != Start {
				fmt.Fprintf(b, ` text-anchor="%s"`, [...]string{Middle: "middle", End: "end"}[m.anchor])
			}
			if m.bold {
				b.WriteString(` font-weight="bold"`)
			}
			if m.outlineGround {
				b.WriteString(` stroke="var(--ground)" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`)
			}
			if width := textWidth(m.text, m.size, m.bold); width > 0 {
				fmt.Fprintf(b, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, formatCoordinate(width))
			}
			m.writeFill(b)
			fmt.Fprintf(b, ">%s</text>", escape(m.text))
		}
	}
}

// writePoints writes points, given as x, y, x, y, ..., as the lines of a path that join them.
func writePoints(b *strings.Builder, points []float64) {
	for k := 0; k+1 < len(points); k += 2 {
		sign := byte('L')
		if k == 0 {
			sign = 'M'
		}
		b.WriteByte(sign)
		b.WriteString(formatCoordinate(points[k]))
		b.WriteByte(' ')
		b.WriteString(formatCoordinate(points[k+1]))
	}
}

// writeFill writes the attribute with the fill colour of a mark.
func (m *mark) writeFill(b *strings.Builder) {
	switch {
	case m.usesTextColourOfPaint:
		_, text := m.paint.Hex()
		fmt.Fprintf(b, ` fill="%s"`, text)
	case m.paint < firstFixedPaint && m.translucent:
		fmt.Fprintf(b, ` class="f-%s faint"`, paintClasses[m.paint])
	case m.paint < firstFixedPaint:
		fmt.Fprintf(b, ` class="f-%s"`, paintClasses[m.paint])
	default:
		fill, _ := m.paint.Hex()
		fmt.Fprintf(b, ` fill="%s"`, fill)
	}
	if m.opacity > 0 && m.opacity < 1 {
		fmt.Fprintf(b, ` fill-opacity="%s"`, strconv.FormatFloat(m.opacity, 'f', 2, 64))
	}
}

// writeStroke writes the attributes with the line colour, width and dashes of a mark.
func (m *mark) writeStroke(b *strings.Builder) {
	if m.paint < firstFixedPaint {
		fmt.Fprintf(b, ` class="s-%s"`, paintClasses[m.paint])
	} else {
		fill, _ := m.paint.Hex()
		fmt.Fprintf(b, ` fill="none" stroke="%s"`, fill)
	}
	if m.width != 1 {
		fmt.Fprintf(b, ` stroke-width="%s"`, formatCoordinate(m.width))
	}
	if m.dashed {
		b.WriteString(` stroke-dasharray="4 3"`)
	}
}

// formatCoordinate writes a coordinate with at most one digit after the decimal point.
func formatCoordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// escape escapes text for XML and HTML.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("figure: a strings.Builder failed: " + err.Error())
	}
	return b.String()
}
