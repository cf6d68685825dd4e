package number

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Beside(1.0004, 1.01), "1.000"},
		{Beside(1.0102, 1.01), "1.0102"}, // 1.010 would not be above 1.01
		{Beside(1.01000004, 1.01), "1.01000004"},
		{Beside(1.01, 1.01), "1.010"},
		{Beside(1.3, 1.01), "1.300"},
		{Beside(math.NaN(), 1.01), "?"},
		{Beside(math.Inf(1), 1.01), "+Inf"},
		{Error(0.00123), "0.0012"},
		{Error(0.0000123), "0.000012"},
		{Error(1.23e-9), "1.2e-09"},
		{Error(12.3), "12"},
		{Error(1234.0), "1234"},
		{Error(1e9), "1e+09"},
		{Error(0.0), "0"},
		{Error(math.NaN()), "?"},
		{Four(-12345.6), "-12346"},
		{Four(1.23456), "1.235"},
		{Four(1e8), "1e+08"},
		{Four(math.NaN()), "?"},
		{Score(1.0219231, 2000), "1.021923"},
		{Score(0.9512, 1), "0.951"},
		{Score(0.9512, 30), "0.9512"},
		{Score(3e-7, 2000), "3e-07"},
		{Score(math.NaN(), 2000), "?"},
		{Thousands(-1234567), "-1,234,567"},
		{Counted(1, "draw"), "1 draw"},
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
		{Share(5, 1000), "  0.5 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
