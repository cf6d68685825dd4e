package figure

import (
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/width"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// liberation returns the face that text is set in where there is a choice:
// Liberation Sans, whose letters are as wide as those of Arial and Helvetica.
func liberation(size vg.Length, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return font.DefaultCache.Lookup(f, size)
}

// TextWidth returns how wide a text of the given size is. It goes by the widths
// of Liberation Sans, without kerning, and for characters that it has not by
// estimates. SVG says so to whoever shows it, who makes the text as wide in
// whatever font there is: what fits by TextWidth fits.
func TextWidth(s string, size float64) float64 { return textWidth(s, size, false) }

func textWidth(s string, size float64, bold bool) float64 {
	face := liberation(1, bold)
	em := 0.0
	for _, r := range printable(s) {
		em += runeWidth(face, r)
	}
	return float64(em * size)
}

// runeWidth returns the width of a character in units of the text's size.
func runeWidth(face font.Face, r rune) float64 {
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	var b sfnt.Buffer
	if at, err := face.Face.GlyphIndex(&b, r); err == nil && at != 0 {
		const em = 1 << 16 // as many units make the widths exact enough
		if advance, err := face.Face.GlyphAdvance(&b, at, em, xfont.HintingNone); err == nil {
			return float64(advance) / em
		}
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 1
	}
	return 0.7
}

// Clip shortens a text to a width, with an ellipsis in place of what is left
// out.
func Clip(s string, width, size float64) string { return clip(s, width, size, false) }

func clip(s string, width, size float64, bold bool) string {
	s = printable(s)
	if textWidth(s, size, bold) <= width {
		return s
	}
	face := liberation(1, bold)
	left := width/size - runeWidth(face, '…')
	for at, r := range s {
		if left -= runeWidth(face, r); left < 0 {
			return strings.TrimSpace(s[:at]) + "…"
		}
	}
	return s
}
