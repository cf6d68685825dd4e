package number

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/testmode"
)

func TestAmounts(t *testing.T) {
	of := func(total int, whole string) Amounts {
		w, _ := new(big.Rat).SetString(whole)
		return Amounts{Total: total, Whole: w}
	}
	for _, c := range []struct {
		a     Amounts
		units []int
		want  string
	}{
		{Percentages(1000), []int{990, 9, 1}, "99.0 0.9 0.1"},
		{of(1000, "100"), []int{990, 9, 1}, "99.0 0.9 0.1"},
		{of(1000, "100"), []int{500, 300, 200}, "50 30 20"},
		{of(53, "13.25"), []int{22, 14, 10, 7}, "5.50 3.50 2.50 1.75"},
		{of(1000, "13.25"), []int{415, 264, 189, 132}, "5.50 3.50 2.50 1.75"},
		{of(52, "13"), []int{7, 13, 32}, "1.75 3.25 8.00"},
		{Percentages(7), []int{4, 2, 1}, "57 29 14"},
		{Percentages(7), []int{5, 1, 1}, "71.4 14.3 14.3"}, // 71, 14 and 14 are 99
		{Percentages(3), []int{1, 1, 1}, "33.34 33.33 33.33"},
		{Percentages(400), []int{398, 1, 1}, "99.50 0.25 0.25"},
		{Percentages(400), []int{200, 200}, "50.0 50.0"},
		{Percentages(960), []int{333, 333, 294}, "34.7 34.7 30.6"},
		{Percentages(10_000_000), []int{9_999_999, 1}, "99.99999 0.00001"},
		{Percentages(1000), []int{465}, "46.5"}, // a part of a recipe
		{Percentages(1000), []int{0}, "0.0"},
		{Percentages(100), []int{120, 30}, "120 30"}, // what there may be, which is more than all
		{Percentages(0), []int{5}, "5"},
		{of(7, "0"), []int{5, 2}, "5 2"},
	} {
		if got := strings.Join(c.a.Write(c.units), " "); got != c.want {
			t.Errorf("%v of %d are %q, not %q", c.units, c.a.Total, got, c.want)
		}
	}
	if texts := of(6, "1/3").Write([]int{5, 1}); len(texts) != 2 || !strings.HasPrefix(texts[0], "0.2777") {
		t.Errorf("a whole without an end is divided into %q", texts)
	}
}

// TestAmountsAddUp writes recipes at random, in percent and in units: what is written adds up
// to the whole and is less than half a unit off, and is what it was where rounding each amount
// by itself did that before.
func TestAmountsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	totals := []int{1, 2, 3, 7, 16, 30, 53, 64, 99, 100, 101, 200, 400, 960, 1000, 1001, 10_000, 12_345, 1_000_000, 1<<31 - 1}
	wholes := []string{"100", "13.25", "12", "0.7", "750", "1", "29.5735295625", "0.000001", "123456789"}
	for range testmode.Pick(3000, 1000) {
		total := totals[r.IntN(len(totals))]
		units := divide(r, total, 1+r.IntN(min(total, 12)))
		whole, _ := new(big.Rat).SetString(wholes[r.IntN(len(wholes))])
		for _, a := range []Amounts{Percentages(total), {Total: total, Whole: whole}, {Total: total, Whole: whole, MinDigits: r.IntN(4)}} {
			reads := a.ExactDigits(units)
			for _, texts := range [][]string{a.Write(units), a.WriteTo(a.Digits(units), units), a.WriteTo(reads, units), a.WriteTo(a.Digits(units, units[:1], units), units)} {
				checkAmounts(t, a, units, texts)
			}
			if reads > a.MinDigits {
				digits := reads - 1
				if _, exact := a.wholeInUlps(digits); exact {
					parts, _ := a.partsWithRest(units)
					w, _ := a.wholeInUlps(digits)
					if a.roundTrips(a.roundTogether(parts, w), parts, w) {
						t.Fatalf("%v of %v are read with fewer than %d digits", units, a, reads)
					}
				}
			}
		}
		// What percentages were before.
		a := Percentages(total)
		var before []string
		sum := new(big.Rat)
		for _, u := range units {
			text := fmt.Sprintf("%.*f", a.MinDigits, 100*float64(u)/float64(total))
			v, _ := new(big.Rat).SetString(text)
			before, sum = append(before, text), sum.Add(sum, v)
		}
		if now := a.Write(units); sum.Cmp(a.Whole) == 0 && total <= 1_000_000 && len(now[0]) == len(before[0]) && !slices.Equal(now, before) {
			t.Fatalf("%v of %d were %q and are %q", units, total, before, now)
		}
	}
}

// checkAmounts checks that amounts add up to the whole and are read as the same units.
func checkAmounts(t *testing.T, a Amounts, units []int, texts []string) {
	t.Helper()
	sum, half := new(big.Rat), new(big.Rat).Quo(a.Whole, big.NewRat(2*int64(a.Total), 1))
	for k, text := range texts {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		sum.Add(sum, v)
		exact := new(big.Rat).Mul(a.Whole, big.NewRat(int64(units[k]), int64(a.Total)))
		if off := exact.Sub(exact, v); off.Abs(off).Cmp(half) >= 0 {
			t.Fatalf("%d of %d units of %v are written as %s", units[k], a.Total, a.Whole, text)
		}
	}
	if sum.Cmp(a.Whole) != 0 {
		t.Fatalf("%v of %d units are %q, which add up to %s and not %s", units, a.Total, texts, sum.FloatString(12), a.Whole.FloatString(12))
	}
}

// divide divides a total into whole parts of at least one at random.
func divide(r *rand.Rand, total, parts int) []int {
	units := make([]int, parts)
	for k := range units {
		units[k] = 1
	}
	for left := total - parts; left > 0; {
		some := 1 + r.IntN(left)
		units[r.IntN(parts)] += some
		left -= some
	}
	return units
}
