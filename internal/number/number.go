// Package number writes numbers, amounts and lists for readers, in the same way in all that kir prints. An
// unknown number, NaN, is written as a question mark.
package number

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"kir/internal/portable"
)

// Float is the type constraint for floating-point numbers to be written.
type Float interface{ ~float64 }

// Fixed writes a number with the given number of decimal places.
func Fixed[F Float](v F, digits int) string {
	if math.IsNaN(float64(v)) {
		return "?"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// ThreeFigures writes a number to at least three significant figures and three decimal places. Very large and
// very small numbers are written in powers of ten.
func ThreeFigures[F Float](v F) string {
	switch size := math.Abs(float64(v)); {
	case math.IsNaN(size):
		return "?"
	case size >= 1e5 || v != 0 && size < 1e-6:
		return fmt.Sprintf("%.3g", v)
	case v != 0 && size < 0.0995:
		return fmt.Sprintf("%.*f", 2-int(math.Floor(portable.Log10(size))), v)
	}
	return fmt.Sprintf("%.3f", v)
}

// FourFigures writes a number to four significant figures.
func FourFigures[F Float](v F) string {
	switch size := math.Abs(float64(v)); {
	case math.IsNaN(size):
		return "?"
	case size >= 9999.5 && size < 1e7:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// Value writes a quantity with a unit, such as a price, to three significant figures. Value keeps zeros at the
// end.
func Value[F Float](v F) string {
	switch size := math.Abs(float64(v)); {
	case math.IsNaN(size):
		return "?"
	case size >= 100 && size < 1e6:
		return Fixed(v, 0)
	case size >= 10 && size < 100:
		return Fixed(v, 1)
	case size >= 1 && size < 10:
		return Fixed(v, 2)
	}
	return fmt.Sprintf("%.3g", v)
}

// Error writes a standard error to two significant figures.
func Error[F Float](v F) string {
	switch {
	case math.IsNaN(float64(v)):
		return "?"
	case v >= 99.5 && v < 1e7:
		return fmt.Sprintf("%.0f", v)
	case v >= 1e-6 && v < 1e-4:
		return fmt.Sprintf("%.*f", 1-int(math.Floor(portable.Log10(float64(v)))), v)
	}
	return fmt.Sprintf("%.2g", v)
}

// needsPowerOfTen reports whether a score is so small or so large that it should be written as a power of ten.
func needsPowerOfTen(v float64) bool {
	size := math.Abs(v)
	return size >= 1e5 || size > 0 && size < 1e-6
}

// powerOfTen writes a positive number as a power of ten whose exponent has the given number of decimal places.
func powerOfTen(v float64, digits int) string {
	return fmt.Sprintf("10^%.*f", digits, portable.Log10(v))
}

// Score writes the score of a property with the given weight, or, with weight 1, of a composition. A score with a
// large weight gets more decimal places, because differences of the score matter more. A score below 1e-6 or of
// at least 1e5 is written as a power of ten: 10^-72.22.
func Score[F Float](v F, weight float64) string {
	if v > 0 && needsPowerOfTen(float64(v)) && !math.IsInf(float64(v), 0) {
		return powerOfTen(float64(v), 2)
	}
	if size := math.Abs(float64(v)); !(weight >= 10) || size >= 1e5 || size < 0.0995 {
		return ThreeFigures(v)
	}
	return Fixed(v, min(9, 3+int(portable.Log10(weight))))
}

// ScoreTick writes the score 10^exponent on a logarithmic axis, where exponent is a whole number. As [Score] does,
// it writes very small and very large scores as powers of ten.
func ScoreTick(exponent float64) string {
	if exponent < -4 || exponent > 4 {
		return fmt.Sprintf("10^%.0f", exponent)
	}
	return Fixed(portable.Pow(10, exponent), int(max(0, -exponent)))
}

// ScoreError writes the standard error se of a score v. If Score writes v as a power of ten, the standard error
// is written in percent of the score, such as "11 % of its value".
func ScoreError[F Float](v, se F) string {
	if needsPowerOfTen(float64(v)) && v > 0 && !math.IsInf(float64(v), 0) && !math.IsNaN(float64(se)) {
		return Error(100*float64(se)/float64(v)) + " % of its value"
	}
	return Error(se)
}

// Scores writes scores for display side by side. Each score is written as by [Score], with up to nine figures if
// more figures are needed to tell different scores apart.
func Scores[F Float](all ...F) []string {
	texts := make([]string, len(all))
	for more := range 7 {
		of := make(map[string]F, len(all))
		apart := true
		for k, v := range all {
			switch size := math.Abs(float64(v)); {
			case more == 0:
				texts[k] = Score(v, 1)
			case v > 0 && needsPowerOfTen(size) && !math.IsInf(size, 0):
				texts[k] = powerOfTen(size, 2+more)
			case size > 0 && size < 0.0995:
				texts[k] = Fixed(v, 2+more-int(math.Floor(portable.Log10(size))))
			default:
				texts[k] = Fixed(v, 3+more)
			}
			if other, there := of[texts[k]]; there && other != v {
				apart = false
			}
			of[texts[k]] = v
		}
		if apart {
			break
		}
	}
	return texts
}

// VersusLimit writes a number to three decimal places. If needed, VersusLimit writes up to nine decimal places,
// to show on which side of the limit the number lies.
func VersusLimit(v, limit float64) string {
	for digits := 3; ; digits++ {
		text := Fixed(v, digits)
		if shown, err := strconv.ParseFloat(text, 64); err != nil || digits == 9 || shown > limit == (v > limit) {
			return text
		}
	}
}

// Axis writes a number for the label of an axis, with the given number of decimal places. Axis writes no minus
// before zero, and writes long numbers as powers of ten.
func Axis(v float64, digits int) string {
	if v != 0 && (math.Abs(v) >= 1e6 || digits > 6) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if s == "-"+strconv.FormatFloat(0, 'f', digits, 64) {
		return s[1:]
	}
	return s
}

// RoundTrip writes a number with the fewest digits that read back as the same float64.
func RoundTrip(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Percent writes a fraction in percent with one decimal place.
func Percent[F Float](share F) string {
	if share > 0 && share < 0.0005 {
		return "<0.1 %"
	}
	return percentText(share, 1)
}

// WholePercent writes a fraction in whole percent. A fraction below 1 is never written as 100 %.
func WholePercent[F Float](share F) string {
	switch {
	case share > 0 && share < 0.01:
		return "<1 %"
	case share > 0.99 && share < 1:
		return ">99 %"
	}
	return percentText(share, 0)
}

// Rate writes a fraction in percent with two decimal places.
func Rate[F Float](share F) string { return percentText(share, 2) }

func percentText[F Float](share F, digits int) string {
	if math.IsNaN(float64(share)) {
		return "?"
	}
	return Fixed(100*share, digits) + " %"
}

// Thousands writes a whole number with commas between groups of three digits.
func Thousands[N ~int | ~int64](n N) string { return Commas(strconv.FormatInt(int64(n), 10)) }

// RoundedDown writes a number, rounded down to a whole number, with commas.
func RoundedDown[F Float](v F) string {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return "?"
	}
	return Thousands(int(v))
}

// CountWithNoun writes a number with a noun, such as "1 recipe" or "2 recipes".
func CountWithNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Grouped writes a whole number of any size with commas between groups of three digits.
func Grouped(n *big.Int) string { return Commas(n.String()) }

// Big writes a large count. Up to 60 digits, which fit a line, are written exactly; a longer count is rounded.
// The count n is nil if the count is unknown.
func Big(n *big.Int) string {
	if n == nil {
		return "too many digits"
	}
	if len(n.String()) <= 60 {
		return Grouped(n)
	}
	mantissa, exponent, _ := strings.Cut(new(big.Float).SetInt(n).Text('e', 3), "e+")
	return mantissa + " × 10^" + exponent
}

// Commas inserts commas into the digits of a whole number, between groups of three digits counted from the right.
func Commas(digits string) string {
	var b strings.Builder
	for k, d := range digits {
		if k > 0 && digits[k-1] != '-' && (len(digits)-k)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Distinct writes two numbers to the given number of significant digits, or to more digits if needed to show
// that the numbers differ.
func Distinct(a, b float64, digits int) (left, right string) {
	for ; ; digits++ {
		left, right = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if left != right || a == b || digits >= 17 || math.IsNaN(a) || math.IsNaN(b) {
			return left, right
		}
	}
}

// WithUnit writes a number with the fewest digits that read back as the same float64, followed by the unit
// unless unit is empty.
func WithUnit(v float64, unit string) string {
	if unit == "" {
		return RoundTrip(v)
	}
	return RoundTrip(v) + " " + unit
}

// Rounded returns the number rounded to the given number of significant figures.
func Rounded(v float64, figures int) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', figures, 64), 64)
	if err != nil {
		return v
	}
	return out
}
