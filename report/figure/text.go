package figure

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// TextWidth returns about how wide a text of the given size is. It goes by the
// widths of Helvetica, which Arial and Liberation Sans share, rounded up, so
// that what fits by it fits.
func TextWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range printable(s) {
		em += runeWidth(r)
	}
	return em * size
}

// runeWidth returns the width of a character in units of the text's size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl.,:;'|!I[]()/ftr -·", r):
		return 0.34
	case strings.ContainsRune("mwMW%@—…ÆæŒœŴŵ", r):
		return 1
	case r == '&':
		return 0.7
	case r < 0x80 && unicode.IsUpper(r):
		return 0.74
	case r < 0x80:
		return 0.57
	case unicode.Is(unicode.Mn, r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 1.05
	}
	if unicode.IsLower(r) && unicode.Is(unicode.Latin, r) {
		return 0.57
	}
	return 0.8
}

// Clip shortens a text to a width, with an ellipsis in place of what is left
// out.
func Clip(s string, width, size float64) string {
	s = printable(s)
	if TextWidth(s, size) <= width {
		return s
	}
	left := width/size - runeWidth('…')
	for at, r := range s {
		if left -= runeWidth(r); left < 0 {
			return strings.TrimSpace(s[:at]) + "…"
		}
	}
	return s
}
