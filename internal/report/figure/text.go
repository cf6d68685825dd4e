package figure

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/width"
)

// characterWidthTable has the width of every character of Liberation Sans, whose letters are as
// wide as those of Arial and Helvetica. Each line has the character in hexadecimal, and its widths
// in the regular and in the bold font, where 2,048 stands for the text size. A test makes the table
// from the fonts, so that only PNG files need the fonts.
//
//go:embed widths.txt
var characterWidthTable string

// unitsPerEm is the text size in the units in which [characterWidths] measures widths.
const unitsPerEm = 2048

// characterWidths returns a map from a character to its widths in the regular and in the bold font.
// The widths are measured in 1/2,048 of the text size.
var characterWidths = sync.OnceValue(func() map[rune][2]uint16 {
	found := make(map[rune][2]uint16)
	for line := range strings.Lines(characterWidthTable) {
		var r rune
		var w [2]uint16
		if _, err := fmt.Sscanf(line, "%x %d %d", &r, &w[0], &w[1]); err != nil {
			panic(fmt.Sprintf("figure: the line of widths %q: %v", line, err))
		}
		found[r] = w
	}
	return found
})

// TextWidth returns the width of a text of the given size. It uses the widths of characters in
// Liberation Sans, without kerning, and estimates the widths of characters that the font lacks. SVG
// output tells viewers to stretch the text to this width, whatever their font.
func TextWidth(s string, size float64) float64 { return textWidth(s, size, false) }

func textWidth(s string, size float64, bold bool) float64 {
	em := 0.0
	for _, r := range printable(s) {
		em += runeWidth(r, bold)
	}
	return float64(em * size)
}

// runeWidth returns the width of a character, divided by the text size.
func runeWidth(r rune, bold bool) float64 {
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	if w, ok := characterWidths()[r]; ok {
		if bold {
			return float64(float64(w[1]) / unitsPerEm)
		}
		return float64(float64(w[0]) / unitsPerEm)
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 1
	}
	return 0.7
}

// Clip shortens a text that is wider than the given width, and ends it with an ellipsis.
func Clip(s string, width, size float64) string { return clipText(s, width, size, false) }

func clipText(s string, width, size float64, bold bool) string {
	s = printable(s)
	if textWidth(s, size, bold) <= width {
		return s
	}
	left := width/size - runeWidth('…', bold)
	for at, r := range s {
		if left -= runeWidth(r, bold); left < 0 {
			return strings.TrimSpace(s[:at]) + "…"
		}
	}
	return s
}
