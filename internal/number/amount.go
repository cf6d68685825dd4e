package number

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Amounts writes amounts of ingredients as decimal texts. A recipe divides Total units among its ingredients. The
// Total corresponds to the quantity Whole in some measure, such as 100 percent or 13.25 centilitres. All of kir
// writes amounts with this type.
//
// The amounts of a recipe get so many decimal places that the written amounts add up to Whole and can be read
// back as the same units. An amount can be read back (by [kir/internal/dataset.Closure]) if the written amount
// is off by less than half a unit. The number of places is the least number for which rounding each amount by
// itself achieves both. Sometimes two more places than needed to tell units apart do not suffice, as for thirds
// of 100. Then the amounts are rounded together, by the largest remainder, with ties to the earlier amount.
//
// Amounts that sum to less than Total are written as part of a recipe whose rest is something else, so that a
// single amount is as exact as in a recipe. If the amounts sum to more than Total, each amount is rounded by
// itself.
type Amounts struct {
	Total     int      // units that a recipe divides
	Whole     *big.Rat // quantity, in the measure of the texts, that Total corresponds to, such as 100 for percent
	MinDigits int      // minimum number of decimal places
}

// spareDigits is the number of additional decimal places that are tried for rounding each amount by itself. If
// they do not suffice, the amounts are rounded together.
const spareDigits = 2

// maxDigits is the maximum number of decimal places, for a Whole that is not a finite decimal.
const maxDigits = 40

// Percentages returns the [Amounts] for writing amounts in percent of total units, with enough decimal places to
// tell units apart.
func Percentages(total int) Amounts {
	a := Amounts{Total: total, Whole: big.NewRat(100, 1)}
	for step := 100; step < total && step <= 1e12; step *= 10 {
		a.MinDigits++
	}
	return a
}

// Share returns an amount of units in percent of the total, with the percent sign.
func Share(units, total int) string { return Shares([]int{units}, total)[0] }

// ShortShare returns an amount in percent, with the percent sign and without zeros at the end.
func ShortShare(units, total int) string {
	return Trim(strings.TrimSuffix(Share(units, total), " %")) + " %"
}

// Shares returns the amounts of a recipe in percent, with the percent sign.
func Shares(units []int, total int) []string {
	texts := Percentages(total).Write(units)
	for k := range texts {
		texts[k] += " %"
	}
	return texts
}

// Write returns the amounts of a recipe as texts. Amounts that are rounded together get two more decimal places,
// so that each text stays near the exact value.
func (a Amounts) Write(units []int) []string {
	digits, byItself := a.minDigitsOf(units)
	if !byItself {
		digits += spareDigits
	}
	return a.WriteTo(digits, units)
}

// Digits returns the least number of decimal places, the same for all given recipes, with which the amounts of
// all recipes can be written as [Amounts] describes.
func (a Amounts) Digits(recipes ...[]int) int {
	digits, _ := a.minDigitsOf(recipes...)
	return digits
}

// minDigitsOf returns the result of [Amounts.Digits]. The result byItself reports whether, with these decimal
// places, each amount can be rounded by itself.
func (a Amounts) minDigitsOf(recipes ...[]int) (digits int, byItself bool) {
	if a.hasUnknownMeasure() {
		return 0, true
	}
	together := -1 // least number of places at which amounts rounded together can be read back
	for digits = a.MinDigits; ; digits++ {
		alone, read := true, true
		whole, exact := a.wholeInUlps(digits)
		for _, units := range recipes {
			parts, more := a.partsWithRest(units)
			rounded := a.roundEach(parts, whole)
			if !more && sumInts(rounded).Cmp(whole) != 0 || !a.roundTrips(rounded, parts, whole) {
				alone = false
				read = read && !more && a.roundTrips(a.roundTogether(parts, whole), parts, whole)
			}
		}
		switch {
		case !exact && digits < maxDigits:
		case alone:
			return digits, true
		case read && together < 0:
			together = digits
		}
		if together >= 0 && digits >= together+spareDigits {
			return together, false
		}
	}
}

// ExactDigits returns the least number of decimal places with which the amounts of a recipe can be read back as
// the same units.
func (a Amounts) ExactDigits(units []int) int {
	for digits := a.MinDigits; ; digits++ {
		if a.hasUnknownMeasure() {
			return digits
		}
		parts, _ := a.partsWithRest(units)
		whole, exact := a.wholeInUlps(digits)
		if (exact || digits >= maxDigits) && a.roundTrips(a.roundTogether(parts, whole), parts, whole) {
			return digits
		}
	}
}

// WriteTo returns the amounts of a recipe with the given number of decimal places.
func (a Amounts) WriteTo(digits int, units []int) []string {
	texts := make([]string, len(units))
	if a.hasUnknownMeasure() {
		for k, u := range units {
			texts[k] = strconv.Itoa(u)
		}
		return texts
	}
	whole, _ := a.wholeInUlps(digits)
	parts, more := a.partsWithRest(units)
	written := a.roundEach(parts, whole)
	if !more {
		written = a.roundTogether(parts, whole)
	}
	for k := range texts {
		texts[k] = decimalText(written[k], digits)
	}
	return texts
}

// hasUnknownMeasure reports whether the measure is unknown, as for a problem that was never read. If the measure
// is unknown, amounts are written in units.
func (a Amounts) hasUnknownMeasure() bool {
	return a.Total < 1 || a.Whole == nil || a.Whole.Sign() <= 0
}

// Trim removes the zeros at the end of a decimal's fraction, and a point without a fraction.
func Trim(decimal string) string {
	if !strings.Contains(decimal, ".") {
		return decimal
	}
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// partsWithRest returns the amounts of a recipe. If the amounts sum to less than Total, the missing units come
// last, as one more part. The result more reports whether the amounts sum to more than Total.
func (a Amounts) partsWithRest(units []int) (parts []*big.Int, more bool) {
	parts = make([]*big.Int, 0, len(units)+1)
	rest := big.NewInt(int64(a.Total))
	for _, u := range units {
		parts = append(parts, big.NewInt(int64(u)))
		rest.Sub(rest, parts[len(parts)-1])
	}
	if rest.Sign() > 0 {
		parts = append(parts, rest)
	}
	return parts, rest.Sign() < 0
}

// wholeInUlps returns Whole as a number of units of the last decimal place. The result exact reports whether
// that number is exact.
func (a Amounts) wholeInUlps(digits int) (ulps *big.Int, exact bool) {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	num := scale.Mul(scale, a.Whole.Num())
	ulps, rest := roundHalfUp(num, a.Whole.Denom())
	return ulps, rest
}

// roundHalfUp returns num/denom rounded to the nearest whole number, halves up, and whether the division is
// exact. The number num must not be negative, and denom must be positive.
func roundHalfUp(num, denom *big.Int) (q *big.Int, exact bool) {
	q, r := new(big.Int).QuoRem(num, denom, new(big.Int))
	if exact = r.Sign() == 0; r.Lsh(r, 1).Cmp(denom) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	return q, exact
}

// roundEach converts amounts from units to units of the last decimal place, of which whole make up Total, and
// rounds each amount by itself.
func (a Amounts) roundEach(parts []*big.Int, whole *big.Int) []*big.Int {
	total := big.NewInt(int64(a.Total))
	out := make([]*big.Int, len(parts))
	for k, p := range parts {
		out[k], _ = roundHalfUp(new(big.Int).Mul(p, whole), total)
	}
	return out
}

// roundTogether converts amounts from units to units of the last decimal place and rounds them by the method of the
// largest remainder, so that the rounded amounts add up to whole.
func (a Amounts) roundTogether(parts []*big.Int, whole *big.Int) []*big.Int {
	total := big.NewInt(int64(a.Total))
	out, remainders := make([]*big.Int, len(parts)), make([]*big.Int, len(parts))
	order := make([]int, len(parts))
	for k, p := range parts {
		out[k], remainders[k] = new(big.Int).QuoRem(new(big.Int).Mul(p, whole), total, new(big.Int))
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return remainders[j].Cmp(remainders[i]) })
	left := new(big.Int).Sub(whole, sumInts(out))
	for _, k := range order {
		if left.Sign() <= 0 {
			break
		}
		left.Sub(left, big.NewInt(1))
		out[k].Add(out[k], big.NewInt(1))
	}
	return out
}

// roundTrips reports whether the written amounts can be read back as the same units. That is so if each written
// amount is off by less than half a unit.
func (a Amounts) roundTrips(written, parts []*big.Int, whole *big.Int) bool {
	total := big.NewInt(int64(a.Total))
	for k, w := range written {
		off := new(big.Int).Mul(w, total)
		off.Sub(off, new(big.Int).Mul(parts[k], whole)).Abs(off).Lsh(off, 1)
		if off.Cmp(whole) >= 0 {
			return false
		}
	}
	return true
}

func sumInts(of []*big.Int) *big.Int {
	s := new(big.Int)
	for _, v := range of {
		s.Add(s, v)
	}
	return s
}

// decimalText writes a number of units of the last decimal place as a decimal text with the given number of
// decimal places.
func decimalText(ulps *big.Int, digits int) string {
	text := ulps.String()
	if digits == 0 {
		return text
	}
	if short := digits + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	return text[:len(text)-digits] + "." + text[len(text)-digits:]
}
