package number

import (
	"math"
	"strconv"
	"strings"
)

// Typeset writes a number with that many digits behind the point, with a proper
// minus sign, and 0 without one.
func Typeset(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// Power is Typeset for a number that may be very small: where its digits would
// all be 0 it is written as 3.7 × 10⁻⁹⁵.
func Power(v float64, digits int) string {
	if v == 0 || !(math.Abs(v) < math.Pow10(-digits)) {
		return Typeset(v, digits)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 1, 64), "e")
	exponent = strings.NewReplacer(
		"-0", "⁻", "-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
	).Replace(exponent)
	return strings.Replace(mantissa, "-", "−", 1) + " × 10" + exponent
}
