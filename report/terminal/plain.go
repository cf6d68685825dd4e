// Package terminal writes text for a person at a terminal: lines that fit, tables,
// and no character of a file that acts.
package terminal

import (
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
