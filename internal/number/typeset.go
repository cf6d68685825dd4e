package number

import (
	"math"
	"strconv"
	"strings"
)

// Typeset writes a number with the given number of decimal places and a typographic minus sign. Typeset writes
// no minus before zero.
func Typeset(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return strings.Replace(s, "-", "−", 1)
}

// Power writes a number like Typeset. If all digits would be 0, Power writes the number as a mantissa and a
// power of ten, such as 3.7 × 10⁻⁹⁵.
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
