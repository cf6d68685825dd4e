package property

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"kir/mcmc"
)

// A form is a linear function Σ_i a_i·x_i of the amounts of a composition. The coefficients are stored as whole
// numbers scale·a_i, so that sums are exact in any order.
type form struct {
	a     []int64 // the whole coefficients scale·a_i
	scale float64
}

// maxDigits is the greatest number of decimal places at which a coefficient is kept exactly.
const maxDigits = 15

// newForm returns the form with the given finite coefficients. scale is the least power of ten that
// makes all of them whole, if sums then stay below 2⁶². Otherwise scale is a power of two, and
// coefficients are rounded to 2⁻⁶¹·M times the largest or finer.
func newForm(coefficients []float64, total int) form {
	largest, digits := 0.0, 0
	for _, v := range coefficients {
		largest = max(largest, math.Abs(v))
		digits = max(digits, decimals(v))
	}
	f := form{a: make([]int64, len(coefficients)), scale: 1}
	if largest == 0 {
		return f
	}
	if power := math.Pow10(min(digits, maxDigits)); digits <= maxDigits && largest*power*float64(total) < 1<<62 {
		f.scale = power
		for i, v := range coefficients {
			f.a[i] = shifted(v, digits)
		}
		return f
	}
	_, exponent := math.Frexp(largest)
	// A scale above 2⁹⁹⁰ times a total could be infinite. So coefficients below 10⁻²⁸⁰ are rounded
	// further, down to 0.
	shift := min(62-bits.Len(uint(total))-exponent, 990)
	f.scale = math.Ldexp(1, shift)
	for i, v := range coefficients {
		f.a[i] = int64(math.RoundToEven(math.Ldexp(v, shift)))
	}
	return f
}

// ScaleToIntegers returns whole numbers a_i and a scale, so that a_i/scale are the given finite numbers. They
// are exact to all decimal places if sums Σ a_i·x_i over compositions of a total stay below 2⁶¹.
// Otherwise they are rounded as the sums of [Blend] are.
func ScaleToIntegers(numbers []float64, total int) (whole []int64, scale float64) {
	f := newForm(numbers, 2*total)
	return f.a, f.scale
}

// decimals returns how many decimal places the shortest decimal text of v has. It returns maxDigits+1 if there are
// more than maxDigits.
func decimals(v float64) int {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, behind, _ := strings.Cut(mantissa, ".")
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return maxDigits + 1
	}
	return min(max(len(behind)-power, 0), maxDigits+1)
}

// shifted returns v·10^digits. The caller ensures that the product is whole and below 2⁶².
func shifted(v float64, digits int) int64 {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, _ := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	return whole
}

// value returns the form's value at x times scale, a whole number.
func (f *form) value(x *mcmc.Composition) int64 {
	sum := int64(0)
	amounts := x.Amounts()
	for _, i := range x.Ingredients() {
		sum += f.a[i] * int64(amounts[i])
	}
	return sum
}

// line returns the form's scaled value at split 0 of the line of i and j, and its increment for each unit that goes
// from j to i. The argument value is the form's scaled value at x.
func (f *form) line(x *mcmc.Composition, value int64, i, j int) (at0, step int64) {
	step = f.a[i] - f.a[j]
	return value - int64(x.Amount(i))*step, step
}

// checkFinite returns an error that names the first number that is not finite, or nil.
func checkFinite(what string, numbers []float64) error {
	for k, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %d is %v: it must be a finite number", what, k, v)
		}
	}
	return nil
}
