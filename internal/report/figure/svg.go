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

// classes are the paints that follow the page, by the name of the style sheet's
// variable.
var classes = [...]string{Ink: "ink", Soft: "soft", Line: "line", Shade: "shade", Ground: "ground", Accent: "accent"}

// Style returns the style sheet for figures in a page. It needs the variables --ink, --soft,
// --line, --shade, --ground and --accent.
func Style() string {
	var b strings.Builder
	for _, c := range classes {
		fmt.Fprintf(&b, ".f-%[1]s{fill:var(--%[1]s)}.s-%[1]s{stroke:var(--%[1]s);fill:none}", c)
	}
	return b.String() + ".faint{fill-opacity:.25}text{unicode-bidi:plaintext}"
}

// light and dark are the colours of the paints that follow the page.
var (
	light = [...]string{Ink: "#1a1a1a", Soft: "#555555", Line: "#b4b4b4", Shade: "#e9e9e6", Ground: "#ffffff", Accent: "#0072b2"}
	dark  = [...]string{Ink: "#e8e8e6", Soft: "#b4b4b0", Line: "#5a5f63", Shade: "#33373a", Ground: "#16181a", Accent: "#56b4e9"}
)

// fonts have letters of the widths in [TextWidth]. A reader may have none of them, so each text
// sets its own width.
const fonts = `"Liberation Sans",Arial,Helvetica,sans-serif`

// Variables returns the declarations of the style sheet's variables for a light and a dark page.
func Variables() (onLight, onDark string) {
	declare := func(colours [first]string) string {
		var b strings.Builder
		for p, c := range colours {
			fmt.Fprintf(&b, "--%s:%s;", classes[p], c)
		}
		return b.String()
	}
	return declare(light), declare(dark)
}

// SVG returns the figure as an element of a page. The identifiers of its texts begin with its name.
func (f *Figure) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %[3]s-text">`, formatCoordinate(f.Width), formatCoordinate(f.Height), escape(f.Name))
	fmt.Fprintf(&b, `<title id="%s-title">%s</title><desc id="%[1]s-text">%[3]s</desc>`, escape(f.Name), escape(f.Title), escape(f.Text))
	f.write(&b)
	b.WriteString("</svg>")
	return b.String()
}

// titleSize is the size of the title of a figure that stands alone, and
// titleHeight the room for it.
const (
	titleSize   = 13.0
	titleHeight = 26.0
	margin      = 12.0
)

// standalone returns the figure with its title, a margin, and the keys that have not
// been placed.
func (f *Figure) standalone() *Figure {
	copied := *f
	f = &copied
	f.marks = slices.Clone(f.marks)
	f.PlaceKeys()
	g := &Figure{Name: f.Name, Title: f.Title, Text: f.Text, Width: f.Width + 2*margin, Height: f.Height + titleHeight + 2*margin}
	g.Rect(0, 0, g.Width, g.Height, Ground)
	g.WriteBold(margin, margin+titleSize, titleSize, Start, Ink, clip(f.Title, f.Width, titleSize, true))
	for _, m := range f.marks {
		m.x += margin
		m.y += margin + titleHeight
		if m.kind == line {
			m.x2 += margin
			m.y2 += margin + titleHeight
		}
		moved := make([]float64, len(m.points))
		for k := range moved {
			moved[k] = m.points[k] + margin
			if k%2 == 1 {
				moved[k] += titleHeight
			}
		}
		m.points = moved
		g.marks = append(g.marks, m)
	}
	return g
}

// An SVG file of a figure begins with svgBegin, followed soon by svgNames.
const (
	svgBegin = `<svg xmlns="http://www.w3.org/2000/svg" `
	svgNames = `aria-labelledby="t d"><title id="t">`
)

// WriteSVG writes a figure as a file with its title. It is light or dark as the reader prefers.
func WriteSVG(w io.Writer, f *Figure) error {
	g := f.standalone()
	var b strings.Builder
	fmt.Fprintf(&b, svgBegin+`width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img" `+svgNames, formatCoordinate(g.Width), formatCoordinate(g.Height))
	fmt.Fprintf(&b, `%s</title><desc id="d">%s</desc>`, escape(g.Title), escape(g.Text))
	onLight, onDark := Variables()
	fmt.Fprintf(&b, `<style>svg{%sfont-family:%s}@media(prefers-color-scheme:dark){svg{%s}}%s</style>`, onLight, escape(fonts), onDark, Style())
	g.write(&b)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes the marks.
func (f *Figure) write(b *strings.Builder) {
	for _, m := range f.marks {
		switch m.kind {
		case rect:
			fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2), formatCoordinate(m.y2))
			m.fill(b)
			if m.outlineGround {
				b.WriteString(` stroke="var(--ground)"`)
			}
			b.WriteString("/>")
		case line:
			fmt.Fprintf(b, `<path d="M%s %sL%s %s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2), formatCoordinate(m.y2))
			m.stroke(b)
			b.WriteString("/>")
		case path:
			b.WriteString(`<path d="`)
			for k := 0; k+1 < len(m.points); k += 2 {
				sign := byte('L')
				if k == 0 {
					sign = 'M'
				}
				b.WriteByte(sign)
				b.WriteString(formatCoordinate(m.points[k]))
				b.WriteByte(' ')
				b.WriteString(formatCoordinate(m.points[k+1]))
			}
			b.WriteByte('"')
			m.stroke(b)
			b.WriteString(` stroke-linejoin="round"/>`)
		case dot:
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2))
			m.fill(b)
			b.WriteString("/>")
		case ring:
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.x2))
			m.stroke(b)
			b.WriteString("/>")
		case label:
			fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s"`, formatCoordinate(m.x), formatCoordinate(m.y), formatCoordinate(m.size))
			if m.anchor != Start {
				fmt.Fprintf(b, ` text-anchor="%s"`, [...]string{Middle: "middle", End: "end"}[m.anchor])
			}
			if m.bold {
				b.WriteString(` font-weight="bold"`)
			}
			if width := textWidth(m.text, m.size, m.bold); width > 0 {
				fmt.Fprintf(b, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, formatCoordinate(width))
			}
			m.fill(b)
			fmt.Fprintf(b, ">%s</text>", escape(m.text))
		}
	}
}

// fill writes what a mark is filled with.
func (m *mark) fill(b *strings.Builder) {
	switch {
	case m.onPaint:
		_, text := m.paint.Hex()
		fmt.Fprintf(b, ` fill="%s"`, text)
	case m.paint < first && m.faint:
		fmt.Fprintf(b, ` class="f-%s faint"`, classes[m.paint])
	case m.paint < first:
		fmt.Fprintf(b, ` class="f-%s"`, classes[m.paint])
	default:
		fill, _ := m.paint.Hex()
		fmt.Fprintf(b, ` fill="%s"`, fill)
	}
}

// stroke writes what a mark is drawn with.
func (m *mark) stroke(b *strings.Builder) {
	if m.paint < first {
		fmt.Fprintf(b, ` class="s-%s"`, classes[m.paint])
	} else {
		fill, _ := m.paint.Hex()
		fmt.Fprintf(b, ` fill="none" stroke="%s"`, fill)
	}
	if m.width != 1 {
		fmt.Fprintf(b, ` stroke-width="%s"`, formatCoordinate(m.width))
	}
	if m.dash {
		b.WriteString(` stroke-dasharray="4 3"`)
	}
}

// formatCoordinate writes a coordinate with one digit behind the point.
func formatCoordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// escape makes text fit for XML and HTML.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("figure: a strings.Builder failed: " + err.Error())
	}
	return b.String()
}
