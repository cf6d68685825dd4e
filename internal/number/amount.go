package number

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Amounts writes amounts of ingredients. A recipe divides Total units; written, they are
// Whole of something, such as 100 of percent or 13.25 of centilitres. Nothing else in kir
// makes text of an amount.
//
// What a recipe has of its ingredients is written with so many digits behind the point that
// the amounts add up to the whole and are read as the same units again (as [kir/internal/dataset.Closure]
// reads them: each is less than half a unit off). These are the fewest with which rounding
// each amount by itself does so. Where up to two more than tell units apart are not enough,
// as for thirds of 100, the amounts are rounded together so that they add up: by the largest
// remainder, where an earlier amount comes before a later one that has the same.
//
// Amounts that are less than the total are written as those of a recipe that has the rest of
// something else, so that one alone is as exact as in a recipe. Of more than the total each is
// rounded by itself.
type Amounts struct {
	Total     int
	Whole     *big.Rat
	MinDigits int // digits behind the point, at least
}

// spareDigits is how many digits more than tell units apart are tried before amounts are
// rounded together.
const spareDigits = 2

// mostDigits bounds the digits of a whole that has no end as a decimal.
const mostDigits = 40

// Percentages writes amounts of so many units in percent, with as many digits as tell units
// apart.
func Percentages(total int) Amounts {
	a := Amounts{Total: total, Whole: big.NewRat(100, 1)}
	for step := 100; step < total && step <= 1e12; step *= 10 {
		a.MinDigits++
	}
	return a
}

// Share writes an amount in percent.
func Share(units, total int) string { return Shares([]int{units}, total)[0] }

// Shares writes the amounts of a recipe in percent.
func Shares(units []int, total int) []string {
	texts := Percentages(total).Write(units)
	for k := range texts {
		texts[k] += " %"
	}
	return texts
}

// Write writes the amounts of a recipe. What is rounded together has two digits more, so that
// no amount is far from its own.
func (a Amounts) Write(units []int) []string {
	digits, byItself := a.digits(units)
	if !byItself {
		digits += spareDigits
	}
	return a.WriteTo(digits, units)
}

// Digits returns with how many digits behind the point the amounts of several recipes can be
// written alike: the fewest.
func (a Amounts) Digits(recipes ...[]int) int {
	digits, _ := a.digits(recipes...)
	return digits
}

// digits is Digits, and whether each amount can be rounded by itself.
func (a Amounts) digits(recipes ...[]int) (digits int, byItself bool) {
	if a.isUnknown() {
		return 0, true
	}
	together := -1 // the fewest with which amounts are read again that were rounded together
	for digits = a.MinDigits; ; digits++ {
		alone, read := true, true
		whole, exact := a.wholeInUlps(digits)
		for _, units := range recipes {
			parts, more := a.parts(units)
			rounded := a.roundEach(parts, whole)
			if !more && sum(rounded).Cmp(whole) != 0 || !a.roundTrips(rounded, parts, whole) {
				alone = false
				read = read && !more && a.roundTrips(a.apportioned(parts, whole), parts, whole)
			}
		}
		switch {
		case !exact && digits < mostDigits:
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

// ExactDigits returns the fewest digits with which the amounts of a recipe are read as the same
// units again.
func (a Amounts) ExactDigits(units []int) int {
	for digits := a.MinDigits; ; digits++ {
		if a.isUnknown() {
			return digits
		}
		parts, _ := a.parts(units)
		whole, exact := a.wholeInUlps(digits)
		if (exact || digits >= mostDigits) && a.roundTrips(a.apportioned(parts, whole), parts, whole) {
			return digits
		}
	}
}

// WriteTo writes the amounts of a recipe with so many digits behind the point.
func (a Amounts) WriteTo(digits int, units []int) []string {
	texts := make([]string, len(units))
	if a.isUnknown() {
		for k, u := range units {
			texts[k] = strconv.Itoa(u)
		}
		return texts
	}
	whole, _ := a.wholeInUlps(digits)
	parts, more := a.parts(units)
	written := a.roundEach(parts, whole)
	if !more {
		written = a.apportioned(parts, whole)
	}
	for k := range texts {
		texts[k] = decimal(written[k], digits)
	}
	return texts
}

// isUnknown says whether nothing is known that amounts can be written in: of a problem that was
// never read.
func (a Amounts) isUnknown() bool { return a.Total < 1 || a.Whole == nil || a.Whole.Sign() <= 0 }

// Trim takes zeros at the end of a decimal away.
func Trim(decimal string) string {
	if !strings.Contains(decimal, ".") {
		return decimal
	}
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

// parts returns the amounts of a recipe, and last what it has of something else. more says
// whether they are more than the total, as sums of what there may be are.
func (a Amounts) parts(units []int) (parts []*big.Int, more bool) {
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

// wholeInUlps returns the whole in units of the last digit, and whether it is as much exactly.
func (a Amounts) wholeInUlps(digits int) (ulps *big.Int, exact bool) {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	num := scale.Mul(scale, a.Whole.Num())
	ulps, rest := halfUp(num, a.Whole.Denom())
	return ulps, rest
}

// halfUp returns a quotient of numbers that are not negative to the nearest whole number, and
// whether it is one.
func halfUp(num, denom *big.Int) (q *big.Int, exact bool) {
	q, r := new(big.Int).QuoRem(num, denom, new(big.Int))
	if exact = r.Sign() == 0; r.Lsh(r, 1).Cmp(denom) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	return q, exact
}

// roundEach rounds each amount by itself.
func (a Amounts) roundEach(parts []*big.Int, whole *big.Int) []*big.Int {
	total := big.NewInt(int64(a.Total))
	out := make([]*big.Int, len(parts))
	for k, p := range parts {
		out[k], _ = halfUp(new(big.Int).Mul(p, whole), total)
	}
	return out
}

// apportioned rounds amounts so that they add up to the whole, by the largest remainder.
func (a Amounts) apportioned(parts []*big.Int, whole *big.Int) []*big.Int {
	total := big.NewInt(int64(a.Total))
	out, remainders := make([]*big.Int, len(parts)), make([]*big.Int, len(parts))
	order := make([]int, len(parts))
	for k, p := range parts {
		out[k], remainders[k] = new(big.Int).QuoRem(new(big.Int).Mul(p, whole), total, new(big.Int))
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return remainders[j].Cmp(remainders[i]) })
	left := new(big.Int).Sub(whole, sum(out))
	for _, k := range order {
		if left.Sign() <= 0 {
			break
		}
		left.Sub(left, big.NewInt(1))
		out[k].Add(out[k], big.NewInt(1))
	}
	return out
}

// roundTrips says whether written amounts are read as the same units again: each is less than half
// a unit off.
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

func sum(of []*big.Int) *big.Int {
	s := new(big.Int)
	for _, v := range of {
		s.Add(s, v)
	}
	return s
}

// decimal writes a number of units of the last digit.
func decimal(ulps *big.Int, digits int) string {
	text := ulps.String()
	if digits == 0 {
		return text
	}
	if short := digits + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	return text[:len(text)-digits] + "." + text[len(text)-digits:]
}
