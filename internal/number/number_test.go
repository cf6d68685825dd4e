package number

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"kir/internal/testonly/golden"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{VersusLimit(1.0004, 1.01), "1.000"},
		{VersusLimit(1.0102, 1.01), "1.0102"}, // 1.010 would not be above 1.01
		{VersusLimit(1.01000004, 1.01), "1.01000004"},
		{VersusLimit(1.01, 1.01), "1.010"},
		{VersusLimit(1.3, 1.01), "1.300"},
		{VersusLimit(math.NaN(), 1.01), "?"},
		{VersusLimit(math.Inf(1), 1.01), "+Inf"},
		{Error(0.00123), "0.0012"},
		{Error(0.0000123), "0.000012"},
		{Error(1.23e-9), "1.2e-09"},
		{Error(12.3), "12"},
		{Error(1234.0), "1234"},
		{Error(1e9), "1e+09"},
		{Error(0.0), "0"},
		{Error(math.NaN()), "?"},
		{FourFigures(-12345.6), "-12346"},
		{FourFigures(1.23456), "1.235"},
		{FourFigures(1e8), "1e+08"},
		{FourFigures(math.NaN()), "?"},
		{Score(1.0219231, 2000), "1.021923"},
		{Score(0.9512, 1), "0.951"},
		{Score(0.9512, 30), "0.9512"},
		{Score(3e-7, 2000), "10^-6.52"},
		{ScoreTick(17), "10^17"}, {ScoreTick(4), "10000"}, {ScoreTick(-3), "0.001"}, {ScoreTick(-9), "10^-9"},
		{Score(math.NaN(), 2000), "?"},
		{Thousands(-1234567), "-1,234,567"},
		{CountWithNoun(1, "draw"), "1 draw"},
		{Typeset(-0.001, 2), "0.00"},
		{Typeset(-1.5, 1), "−1.5"},
		{Power(3.67e-95, 5), "3.7 × 10⁻⁹⁵"},
		{Power(-4e-7, 5), "−4.0 × 10⁻⁷"},
		{Power(0, 5), "0.00000"},
		{Power(68.931068931, 5), "68.93107"},
		{Commas("5"), "5"},
		{Commas("2118760"), "2,118,760"},
		{Commas("100"), "100"},
		{Percent(0.0004), "<0.1 %"},
		{Rate(math.NaN()), "?"},
		{Share(5, 1000), "0.5 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestAround writes numbers around all bounds in every way, as they were written.
func TestAround(t *testing.T) {
	var b bytes.Buffer
	for _, size := range []float64{
		0, 1e-10, 9.9e-7, 1e-6, 5.5e-5, 9.9e-5, 1e-4, 4.9e-4, 5e-4, 0.0099, 0.01, 0.0994, 0.0995, 0.5, 0.99, 0.9999, 1, 9.99, 10, 15.55, 99.4, 99.9,
		100, 155.5, 9999, 9999.4, 9999.9, 1e4, 99999, 1e5, 123456, 1e6, 1e7 - 1, 1e7, 1e10, math.Inf(1), math.NaN(),
	} {
		for _, v := range []float64{size, -size} {
			fmt.Fprintln(&b, v, "|", Fixed(v, 2), ThreeFigures(v), FourFigures(v), Value(v), Error(v), "|", Score(v, 9.9), Score(v, 10), Score(v, 1000), Score(v, 1e12),
				"|", VersusLimit(v, 1.01), "|", Axis(v, 0), Axis(v, 6), Axis(v, 7), "|", RoundTrip(v), Percent(v), WholePercent(v), Rate(v), RoundedDown(v), "|", Typeset(v, 1), Power(v, 2), Power(v, 5))
		}
	}
	for _, total := range []int{7, 99, 100, 101, 1000, 1001, 10000, 1000000, 10000000} {
		for _, units := range []int{0, 1, total / 3, total} {
			fmt.Fprintf(&b, "%d of %d:%s|\n", units, total, Share(units, total))
		}
	}
	for digits := range 64 {
		n, _ := new(big.Int).SetString(strings.Repeat("9", digits+1), 10)
		fmt.Fprintln(&b, Big(n), Grouped(n.Neg(n)))
	}
	fmt.Fprintln(&b, Big(nil), CountWithNoun(0, "draw"), CountWithNoun(2, "draw"), CountWithNoun(1234, "draw"))
	golden.Compare(t, "testdata/around.txt", b.Bytes())
}

// TestScores: scores whose digits say nothing are shown as powers of ten, and scores that differ
// are told apart where they stand side by side.
func TestScores(t *testing.T) {
	for v, want := range map[float64]string{
		6.01e-73: "10^-72.22", 1.31e17: "10^17.12", 0.791: "0.791", 0.0123: "0.0123", 0: "0.000", 9.9e-7: "10^-6.00", 1e-6: "0.00000100", 1e5: "10^5.00",
		99_999: "99999.000", math.Inf(1): "+Inf", -1e6: "-1e+06",
	} {
		if got := Score(v, 1); got != want {
			t.Errorf("%g is written %q, not %q", v, got, want)
		}
	}
	if got := Score(math.NaN(), 1); got != "?" {
		t.Errorf("a score that is not known is %q", got)
	}
	for _, c := range []struct {
		scores []float64
		want   string
	}{
		{[]float64{0.5, 0.25}, "0.500 0.250"}, {[]float64{0.5, 0.5}, "0.500 0.500"}, {[]float64{0.50001, 0.50002}, "0.50001 0.50002"},
		{[]float64{6.01e-73, 6.02e-73}, "10^-72.221 10^-72.220"}, {[]float64{0.0001234, 0.0001231}, "0.0001234 0.0001231"}, {[]float64{0, 3e-9}, "0.000 10^-8.52"}, {nil, ""},
	} {
		if got := strings.Join(Scores(c.scores...), " "); got != c.want {
			t.Errorf("%v are written %q, not %q", c.scores, got, c.want)
		}
	}
	if got := ScoreError(1.31e17, 1.31e16); got != "10 % of its value" {
		t.Errorf("the error of a large score is %q", got)
	}
	if got := ScoreError(0.5, 0.012); got != "0.012" {
		t.Errorf("the error of a score is %q", got)
	}
}
