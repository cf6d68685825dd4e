package property

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"kir/mcmc"
)

// A linearForm is a linear function Σ_i a_i·x_i of the amounts of a composition. The coefficients are stored as
// whole numbers scale·a_i, so that sums are exact in any order.
type linearForm struct {
	coefficients []int64 // item i is the whole number scale·a_i
	scale        float64
}

// maxDecimalPlaces is the greatest number of decimal places with which a coefficient is stored exactly.
const maxDecimalPlaces = 15

// newLinearForm returns the linear form with the given finite coefficients, for compositions of total units.
// The scale of the form is the least power of ten that makes all coefficients whole numbers. If sums could then
// exceed 2⁶², the scale is a power of two instead. In that case the coefficients are rounded to multiples of
// 2⁻⁶¹·total·max|a| or finer, where a are the coefficients.
func newLinearForm(coefficients []float64, total int) linearForm {
	largest, digits := 0.0, 0
	for _, v := range coefficients {
		largest = max(largest, math.Abs(v))
		digits = max(digits, decimalPlaces(v))
	}
	f := linearForm{coefficients: make([]int64, len(coefficients)), scale: 1}
	if largest == 0 {
		return f
	}
	if power := math.Pow10(min(digits, maxDecimalPlaces)); digits <= maxDecimalPlaces && largest*power*float64(total) < 1<<62 {
		f.scale = power
		for i, v := range coefficients {
			f.coefficients[i] = timesPowerOfTen(v, digits)
		}
		return f
	}
	_, exponent := math.Frexp(largest)
	// A scale above 2⁹⁹⁰ times a total could be infinite. So coefficients below 10⁻²⁸⁰ are rounded
	// further, down to 0.
	shift := min(62-bits.Len(uint(total))-exponent, 990)
	f.scale = math.Ldexp(1, shift)
	for i, v := range coefficients {
		f.coefficients[i] = int64(math.RoundToEven(math.Ldexp(v, shift)))
	}
	return f
}

// ScaleToIntegers returns whole numbers a_i and a scale such that a_i/scale are the given finite numbers. The
// numbers are exact to all decimal places if sums Σ a_i·x_i over compositions of total units stay below 2⁶¹.
// Otherwise the numbers are rounded; see [Blend].
func ScaleToIntegers(numbers []float64, total int) (whole []int64, scale float64) {
	f := newLinearForm(numbers, 2*total)
	return f.coefficients, f.scale
}

// decimalPlaces returns the number of decimal places in the shortest decimal text of v, but at most
// maxDecimalPlaces+1.
func decimalPlaces(v float64) int {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, behind, _ := strings.Cut(mantissa, ".")
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return maxDecimalPlaces + 1
	}
	return min(max(len(behind)-power, 0), maxDecimalPlaces+1)
}

// timesPowerOfTen returns v·10^digits. The caller ensures that the product is a whole number below 2⁶².
func timesPowerOfTen(v float64, digits int) int64 {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, _ := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	return whole
}

// scaledValue returns the value of the form for the composition x, multiplied by the scale of the form. The
// result is a whole number.
func (f *linearForm) scaledValue(x *mcmc.Composition) int64 {
	sum := int64(0)
	amounts := x.Amounts()
	for _, i := range x.Ingredients() {
		sum += f.coefficients[i] * int64(amounts[i])
	}
	return sum
}

// valueAlongLine returns the scaled value of the form after all units of ingredient i have moved to ingredient
// j. It also returns the increase of the scaled value for each unit moved from j to i. The argument value is
// the scaled value for the composition x.
func (f *linearForm) valueAlongLine(x *mcmc.Composition, value int64, i, j int) (at0, step int64) {
	step = f.coefficients[i] - f.coefficients[j]
	return value - int64(x.Amount(i))*step, step
}

// checkFinite returns an error if one of the numbers is not finite. The error calls the number by the text in
// what.
func checkFinite(what string, numbers []float64) error {
	for k, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %d is %v: it must be a finite number", what, k, v)
		}
	}
	return nil
}
