package dataset

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"kir/internal/inputerr"
)

// A Decimal is the decimal mark of the numbers in a table.
type Decimal int

const (
	AnyDecimal   Decimal = iota // determined from the numbers
	DecimalPoint                // 1.5, and perhaps 1,500 for fifteen hundred
	DecimalComma                // 1,5, and perhaps 1.500 for fifteen hundred
)

// ParseDecimal parses "point" or "comma".
func ParseDecimal(text string) (Decimal, error) {
	switch text {
	case "point":
		return DecimalPoint, nil
	case "comma":
		return DecimalComma, nil
	}
	return AnyDecimal, fmt.Errorf("there is no decimal mark %s: write point or comma", inputerr.Quote(text))
}

// String returns the form that [ParseDecimal] parses.
func (d Decimal) String() string {
	switch d {
	case DecimalPoint:
		return "point"
	case DecimalComma:
		return "comma"
	}
	return "any"
}

// A numeral is a number as written in a table, with its two interpretations.
type numeral struct {
	point string // its plain form with the point as the decimal mark; empty if impossible
	comma string // its plain form with the comma as the decimal mark
}

// decimalMark returns the only decimal mark with which the numeral is valid. It is AnyDecimal for a
// whole number without marks, and for a numeral that is valid with both.
func (n numeral) decimalMark() Decimal {
	switch {
	case n.comma == "" && n.point != "":
		return DecimalPoint
	case n.point == "" && n.comma != "":
		return DecimalComma
	}
	return AnyDecimal
}

// isAmbiguous reports whether the numeral is a different number with each decimal mark.
func (n numeral) isAmbiguous() bool {
	return n.point != "" && n.comma != "" && n.point != n.comma
}

// plainForm returns the plain form. It is empty if the numeral has none, or has two and d does not
// decide.
func (n numeral) plainForm(d Decimal) string {
	switch {
	case d == DecimalPoint:
		return n.point
	case d == DecimalComma:
		return n.comma
	case n.point == "":
		return n.comma
	case n.comma == "" || n.comma == n.point:
		return n.point
	}
	return ""
}

// thousandsMarks are the marks between thousands that are not decimal marks: the space and its
// narrow variants, and the apostrophes.
const thousandsMarks = " \u00a0\u2009\u202f'’"

// parseNumeral parses digits with marks between them, and optionally a sign and an exponent: 4,
// 4.5, 4,5, 1,234.5, 1.234,5, 1 234, 1'234.50, 1e-3. It returns the zero numeral if the text is not
// a number.
func parseNumeral(text string) numeral {
	body, exponent := text, ""
	if i := strings.IndexAny(body, "eE"); i >= 0 {
		body, exponent = body[:i], body[i:]
	}
	sign := ""
	if body != "" && (body[0] == '+' || body[0] == '-') {
		sign, body = body[:1], body[1:]
	}
	var n numeral
	for _, d := range []struct {
		mark, group rune
		form        *string
	}{{'.', ',', &n.point}, {',', '.', &n.comma}} {
		if plain, ok := plainNumber(body, d.mark, d.group); ok {
			*d.form = sign + plain + exponent
		}
	}
	return n
}

// plainNumber removes the marks between thousands from a number without sign, and turns its decimal
// mark into a point.
func plainNumber(text string, mark, group rune) (plain string, ok bool) {
	whole, fraction := text, ""
	if i := strings.IndexRune(text, mark); i >= 0 {
		whole, fraction = text[:i], "."+text[i+1:]
	}
	for _, c := range strings.TrimPrefix(fraction, ".") {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	var digits strings.Builder
	between := rune(0) // the mark between thousands found so far
	run, groups := 0, 0
	for i, c := range whole {
		switch {
		case c >= '0' && c <= '9':
			digits.WriteRune(c)
			run++
		case c == group || strings.ContainsRune(thousandsMarks, c):
			// Every group must have three digits, the first up to three without leading zeros, and
			// all marks must be the same.
			if between != 0 && c != between || groups > 0 && run != 3 || run == 0 || run > 3 || whole[0] == '0' || i+utf8.RuneLen(c) == len(whole) {
				return "", false
			}
			between, run = c, 0
			groups++
		default:
			return "", false
		}
	}
	if groups > 0 && run != 3 {
		return "", false
	}
	if digits.Len() == 0 && len(fraction) < 2 {
		return "", false
	}
	return digits.String() + fraction, true
}

// Number parses a finite decimal number of either sign, as in a numeric label.
func Number(text string) (float64, bool) { return number(text) }

// number parses a finite decimal number of either sign.
func number(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv also accepts hexadecimal, underscores and infinities
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}
