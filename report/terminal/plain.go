// Package terminal writes text for a person at a terminal: lines that fit, tables,
// and no character of a file that acts.
package terminal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Plain makes text that comes from a file fit for a terminal: control
// characters, and those that turn the direction of writing, are shown escaped.
func Plain(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			quoted := fmt.Sprintf("%+q", r)
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
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for Width(word) > width {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			at := fits(word, width)
			lines = append(lines, word[:at])
			word = word[at:]
		}
		if line != "" && Width(line)+1+Width(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// fits returns how many bytes of a word fit a width of at least two columns.
func fits(word string, width int) int {
	for at, r := range word {
		if width -= Width(string(r)); width < 0 {
			return at
		}
	}
	return len(word)
}
