package figure

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/width"
)

// liberation returns the font that text is set in where there is a choice:
// Liberation Sans, whose letters are as wide as those of Arial and Helvetica.
func liberation(bold bool) *sfnt.Font {
	if bold {
		return liberationBold()
	}
	return liberationRegular()
}

var (
	liberationRegular = sync.OnceValue(func() *sfnt.Font { return parsed(liberationsansregular.TTF) })
	liberationBold    = sync.OnceValue(func() *sfnt.Font { return parsed(liberationsansbold.TTF) })
)

// parsed reads a font that is part of the program.
func parsed(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("figure: the font: %v", err))
	}
	return f
}

// TextWidth returns how wide a text of the given size is. It goes by the widths
// of Liberation Sans, without kerning, and for characters that it has not by
// estimates. SVG says so to whoever shows it, who makes the text as wide in
// whatever font there is: what fits by TextWidth fits.
func TextWidth(s string, size float64) float64 { return textWidth(s, size, false) }

func textWidth(s string, size float64, bold bool) float64 {
	f := liberation(bold)
	em := 0.0
	for _, r := range printable(s) {
		em += runeWidth(f, r)
	}
	return float64(em * size)
}

// runeWidth returns the width of a character in units of the text's size.
func runeWidth(f *sfnt.Font, r rune) float64 {
	if unicode.Is(unicode.Mn, r) {
		return 0
	}
	var b sfnt.Buffer
	if at, err := f.GlyphIndex(&b, r); err == nil && at != 0 {
		const em = 1 << 16 // as many units make the widths exact enough
		if advance, err := f.GlyphAdvance(&b, at, em, font.HintingNone); err == nil {
			return float64(float64(advance) / em)
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
	f := liberation(bold)
	left := width/size - runeWidth(f, '…')
	for at, r := range s {
		if left -= runeWidth(f, r); left < 0 {
			return strings.TrimSpace(s[:at]) + "…"
		}
	}
	return s
}
