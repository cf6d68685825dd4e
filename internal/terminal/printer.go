package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A Printer writes text and keeps the first error.
type Printer struct {
	Style
	Err error
	w   io.Writer
}

// NewPrinter returns a printer to a stream that can show so much.
func NewPrinter(w io.Writer, s Style) *Printer { return &Printer{Style: s, w: w} }

// Line writes a line.
func (p *Printer) Line(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// Heading writes an empty line and a heading.
func (p *Printer) Heading(format string, args ...any) {
	p.Line("")
	p.Line(format, args...)
}

// Table writes a table.
func (p *Printer) Table(t *Table) {
	if p.Err == nil {
		p.Err = t.Write(p.w)
	}
}

// Wrapped writes text from a file in lines that begin with spaces.
func (p *Printer) Wrapped(indent int, text string) {
	for _, l := range Wrap(Plain(text), Columns-indent) {
		p.Line("%*s%s", indent, "", l)
	}
}

// Hanging is Wrapped with all lines but the first set further in.
func (p *Printer) Hanging(indent int, text string) {
	for k, l := range Wrap(Plain(text), Columns-indent-2) {
		if k == 1 {
			indent += 2
		}
		p.Line("%*s%s", indent, "", l)
	}
}

// A Style says what a terminal can show.
type Style struct {
	Color bool // ANSI colours
	ASCII bool // no block characters
}

// Bold makes text stand out.
func (s Style) Bold(text string) string { return s.ansi("1", text) }

// Warn makes text a warning.
func (s Style) Warn(text string) string { return s.ansi("33", text) }

// Faint makes text stand back.
func (s Style) Faint(text string) string { return s.ansi("90", text) }

func (s Style) ansi(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bar draws a share as a bar of at most width characters, in eighths of one.
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

// Columns is how wide text is at most, where names allow.
const Columns = 80
