package figure

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/width"
)

// widthLines has the width of every character of Liberation Sans, whose letters are as wide
// as those of Arial and Helvetica: a line each with the character in hexadecimal, and its
// width in the regular and in the bold font, in units of which 2,048 are the text's size. A
// test makes it from the fonts, which are then needed by pictures alone.
//
//go:embed widths.txt
var widthLines string

// unitsPerEm is the size of a text in units of the fonts.
const unitsPerEm = 2048

// widths returns the widths of characters in units, regular and bold.
var widths = sync.OnceValue(func() map[rune][2]uint16 {
	found := make(map[rune][2]uint16)
	for line := range strings.Lines(widthLines) {
		var r rune
		var w [2]uint16
		if _, err := fmt.Sscanf(line, "%x %d %d", &r, &w[0], &w[1]); err != nil {
			panic(fmt.Sprintf("figure: the line of widths %q: %v", line, err))
		}
		found[r] = w
	}
	return found
})

// TextWidth returns the width of a text of the given size. It uses the widths of Liberation Sans,
// without kerning, and estimates for other characters. SVG output sets this width on the text, and
// viewers stretch any font to it. So text that fits by TextWidth fits.
func TextWidth(s string, size float64) float64 { return textWidth(s, size, false) }

func textWidth(s string, size float64, bold bool) float64 {
	em := 0.0
	for _, r := range printable(s) {
		em += runeWidth(r, bold)
	}
	return float64(em * size)
}

// runeWidth returns the width of a character in units of the text's size.
func runeWidth(r rune, bold bool) float64 {
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	if w, ok := widths()[r]; ok {
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

// Clip shortens a text to a width and ends it with an ellipsis.
func Clip(s string, width, size float64) string { return clip(s, width, size, false) }

func clip(s string, width, size float64, bold bool) string {
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
