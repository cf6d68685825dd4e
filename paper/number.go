package paper

import (
	"math"
	"strconv"
	"strings"
)

// decimals writes a number with that many digits after the point, with a
// proper minus sign, and 0 without one.
func decimals(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// quantity writes a number that may be very small: with that many digits after
// the point, or as 3.7 × 10⁻⁹⁵ where these would all be 0.
func quantity(x float64, digits int) string {
	if x == 0 || math.Abs(x) >= math.Pow10(-digits) {
		return decimals(x, digits)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return mantissa + "e" + exponent // what FormatFloat never gives
	}
	return strings.Replace(mantissa, "-", "−", 1) + " × 10" + superscript(e)
}

// superscript writes an exponent.
func superscript(e int) string {
	return strings.NewReplacer(
		"-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
	).Replace(strconv.Itoa(e))
}

// thousands writes a whole number in groups of three digits.
func thousands(digits string) string {
	var b strings.Builder
	for k, d := range digits {
		if k > 0 && (len(digits)-k)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
