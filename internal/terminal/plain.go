// Package terminal writes text for a person at a terminal. It breaks text into lines, aligns tables
// and escapes characters that would control the terminal.
package terminal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// EscapeControls makes text from a file safe to show in a terminal. It escapes control characters
// and characters that change the direction of writing.
func EscapeControls(s string) string { return Escape(s, isUnprintable) }

// Escape replaces some characters of a text by Go escape sequences. The function hidden reports
// whether a character is to be replaced.
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

// EscapeJSON escapes characters that JSON allows but that control a terminal: the control
// characters from U+007F to U+009F, and characters that change the direction of writing.
func EscapeJSON(document []byte) []byte {
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

// isUnprintable reports whether a character has no visible form or is a space other than U+0020.
func isUnprintable(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || r == unicode.ReplacementChar || r != ' ' && unicode.IsSpace(r)
}

// Width returns the number of columns that a text takes up on a screen.
func Width(s string) int { return text.StringWidth(s) }

// Pad adds spaces to a text until it has the given width on a screen. Pad shortens a longer text,
// which then ends with an ellipsis.
func Pad(s string, width int) string {
	if text.StringWidth(s) > width {
		s = text.Trim(s, width-1) + "…"
	}
	return text.Pad(s, width, ' ')
}

// Wrap breaks a text into lines of at most width columns. It breaks lines at spaces, and breaks a
// word only if the word is longer than a line.
func Wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(strings.Join(strings.Fields(s), " "), width), "\n")
	for k, line := range lines {
		lines[k] = strings.TrimRight(line, " ")
	}
	return lines
}
