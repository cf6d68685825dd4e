package measure

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"kir/internal/inputerr"
)

// A Decimal is the decimal mark of the numbers in a table: a point or a comma.
type Decimal int

const (
	AnyDecimal   Decimal = iota // the reader determines the mark from the numbers
	DecimalPoint                // as in 1.5; a comma may separate thousands, as in 1,500
	DecimalComma                // as in 1,5; a point may separate thousands, as in 1.500
)

// ParseDecimal returns the decimal mark that "point" or "comma" names.
func ParseDecimal(text string) (Decimal, error) {
	switch text {
	case "point":
		return DecimalPoint, nil
	case "comma":
		return DecimalComma, nil
	}
	return AnyDecimal, fmt.Errorf("there is no decimal mark %s: write point or comma", inputerr.Quote(text))
}

// String returns "point", "comma" or, for AnyDecimal, "any".
func (d Decimal) String() string {
	switch d {
	case DecimalPoint:
		return "point"
	case DecimalComma:
		return "comma"
	}
	return "any"
}

// A Numeral is a number as written in a table, read with either decimal mark. A plain form has
// digits, a decimal point, and optionally a sign and an exponent.
type Numeral struct {
	WithPoint string // plain form if the point is the decimal mark; empty if the text is then no number
	WithComma string // plain form if the comma is the decimal mark; empty if the text is then no number
}

// DecimalMark returns the only decimal mark with which the numeral is a number. It returns
// AnyDecimal if the numeral is a number with both marks or with neither.
func (n Numeral) DecimalMark() Decimal {
	switch {
	case n.WithComma == "" && n.WithPoint != "":
		return DecimalPoint
	case n.WithPoint == "" && n.WithComma != "":
		return DecimalComma
	}
	return AnyDecimal
}

// IsAmbiguous reports whether the two decimal marks make the numeral two different numbers.
func (n Numeral) IsAmbiguous() bool {
	return n.WithPoint != "" && n.WithComma != "" && n.WithPoint != n.WithComma
}

// PlainForm returns the plain form with the decimal mark d. If d is AnyDecimal, it returns the only
// plain form, or an empty text if there are none or two different ones.
func (n Numeral) PlainForm(d Decimal) string {
	switch {
	case d == DecimalPoint:
		return n.WithPoint
	case d == DecimalComma:
		return n.WithComma
	case n.WithPoint == "":
		return n.WithComma
	case n.WithComma == "" || n.WithComma == n.WithPoint:
		return n.WithPoint
	}
	return ""
}

// Value returns the number, read with a decimal point if that is possible; 0 if there is none.
func (n Numeral) Value() float64 {
	v, ok := ParseNumber(n.WithPoint)
	if !ok {
		v, _ = ParseNumber(n.WithComma)
	}
	return v
}

// thousandsMarks are the characters that may separate thousands and are never decimal marks: the
// space, its narrow variants, and the apostrophes.
const thousandsMarks = " \u00a0\u2009\u202f'’"

// ParseNumeral parses digits with decimal and thousands marks between them, and optionally a sign
// and an exponent, such as 4, 4.5, 4,5, 1,234.5, 1.234,5, 1 234, 1'234.50 or 1e-3. It returns the
// zero numeral if the text is not a number.
func ParseNumeral(text string) Numeral {
	if rest, ok := strings.CutPrefix(text, "−"); ok {
		text = "-" + rest
	}
	body, exponent := text, ""
	if i := strings.IndexAny(body, "eE"); i >= 0 {
		body, exponent = body[:i], body[i:]
	}
	if exponent != "" && strings.Trim(strings.TrimLeft(exponent[1:], "+-"), "0123456789") != "" {
		return Numeral{} // such as 1e-6/K
	}
	sign := ""
	if body != "" && (body[0] == '+' || body[0] == '-') {
		sign, body = body[:1], body[1:]
	}
	var n Numeral
	for _, d := range []struct {
		mark, group rune
		form        *string
	}{{'.', ',', &n.WithPoint}, {',', '.', &n.WithComma}} {
		if plain, ok := plainNumber(body, d.mark, d.group); ok {
			*d.form = sign + plain + exponent
		}
	}
	return n
}

// plainNumber removes the marks between thousands from a number without a sign, and replaces the
// decimal mark by a point. The parameter mark is the decimal mark, and group is the mark between
// thousands; thousandsMarks are allowed, too. ok is false if the text is not such a number.
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

// Number parses a finite decimal number of either sign, with a decimal point, as in a numeric
// label. ok is false if the text is not such a number.
func Number(text string) (value float64, ok bool) { return ParseNumber(text) }

// ParseNumber parses a finite decimal number of either sign, with a decimal point. ok is false if
// the text is not such a number.
func ParseNumber(text string) (value float64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false // strconv also accepts hexadecimal, underscores and infinities
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}
