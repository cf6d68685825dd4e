// Package terminal writes text for a person at a terminal: lines that fit, tables,
// and no character of a file that acts.
package terminal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Plain makes text that comes from a file fit for a terminal: control
// characters, and those that turn the direction of writing, are shown escaped.
func Plain(s string) string { return Escape(s, unprintable) }

// Escape returns text with the characters that are to be hidden written as in Go.
func Escape(s string, hidden func(rune) bool) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSON escapes what JSON lets stand as it is and a terminal obeys: the controls from
// U+007F to U+009F, and characters that turn the direction of writing.
func JSON(document []byte) []byte {
	acts := func(r rune) bool { return r >= 0x7f && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if bytes.IndexFunc(document, acts) < 0 {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) {
		if acts(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

func unprintable(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || r == unicode.ReplacementChar || r != ' ' && unicode.IsSpace(r)
}

// Width returns how many columns of a screen a text takes.
func Width(s string) int { return text.StringWidth(s) }

// Pad fills text up to a width on the screen, and shortens what is longer.
func Pad(s string, width int) string {
	if text.StringWidth(s) > width {
		s = text.Trim(s, width-1) + "…"
	}
	return text.Pad(s, width, ' ')
}

// Wrap breaks text into lines of at most width columns: at spaces, or within
// words that are longer than a line.
func Wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(strings.Join(strings.Fields(s), " "), width), "\n")
	for k, line := range lines {
		lines[k] = strings.TrimRight(line, " ")
	}
	return lines
}
