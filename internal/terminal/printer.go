package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A Printer writes lines of text to a stream. After an error it writes nothing more.
type Printer struct {
	Style
	Err error // first error of writing to the stream; nil if there was none
	out io.Writer
}

// NewPrinter returns a printer that writes to w. The style s says what the terminal can show.
func NewPrinter(w io.Writer, s Style) *Printer { return &Printer{Style: s, out: w} }

// Line writes a formatted line.
func (p *Printer) Line(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// Heading writes an empty line and then a formatted line.
func (p *Printer) Heading(format string, args ...any) {
	p.Line("")
	p.Line(format, args...)
}

// Table writes a table.
func (p *Printer) Table(t *Table) {
	if p.Err == nil {
		p.Err = t.Write(p.out)
	}
}

// Wrapped escapes control characters of a text, breaks the text into lines and writes the lines.
// Each line is indented by the given number of spaces.
func (p *Printer) Wrapped(indent int, text string) {
	for _, l := range Wrap(EscapeControls(text), MaxColumns-indent) {
		p.Line("%*s%s", indent, "", l)
	}
}

// WrappedHanging is like [Printer.Wrapped], but indents all lines after the first by two more spaces.
func (p *Printer) WrappedHanging(indent int, text string) {
	for k, l := range Wrap(EscapeControls(text), MaxColumns-indent-2) {
		if k == 1 {
			indent += 2
		}
		p.Line("%*s%s", indent, "", l)
	}
}

// A Style says what a terminal can show.
type Style struct {
	Color bool // whether the terminal shows ANSI colours
	ASCII bool // whether the terminal cannot show the block characters of Unicode
}

// Bold returns text in bold.
func (s Style) Bold(text string) string { return s.ansi("1", text) }

// Warn returns text in the colour for warnings.
func (s Style) Warn(text string) string { return s.ansi("33", text) }

// Faint returns text in grey.
func (s Style) Faint(text string) string { return s.ansi("90", text) }

// ansi returns text between two ANSI escape sequences: the sequence with the given code and the
// sequence that resets all attributes. If the terminal has no colours, ansi returns text unchanged.
func (s Style) ansi(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bar returns a bar whose length shows a share from 0 to 1. The bar for the share 1 has the given
// width in characters. The length is rounded to eighths of a character, or in ASCII to whole
// characters. No bar is empty.
func (s Style) Bar(share float64, width int) string {
	if s.ASCII {
		return strings.Repeat("#", max(1, int(math.Round(share*float64(width)))))
	}
	eighths := max(1, int(math.Round(share*float64(8*width))))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return bar
}

// MaxColumns is the maximum width of printed text, in columns of the screen. Only long names may
// exceed it.
const MaxColumns = 80
