package measure

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestParseAmount(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.000", "0"}, {"0e999999999999", "0"},
		{"1", "1"}, {"+1", "1"}, {"4.50", "4.5"}, {".75", "0.75"}, {"3.", "3"}, {" 2 ", "2"},
		{"100", "100"}, {"1e2", "100"}, {"1E+2", "100"}, {"100e-4", "0.01"},
		{"0.000001", "0.000001"}, {"0.0000001", "1e-7"}, {"1.25e-7", "1.25e-7"},
		{"123456789012345678", "123456789012345678"},
		{"1234567890123456785", "1234567890123456790"},
		{"1234567890123456784", "1234567890123456780"},
		{"0.12345678901234567849", "0.123456789012345678"},
		{"0.1234567890123456785", "0.123456789012345679"},
		{"0.9999999999999999999", "1"},
		{"999999999999999999", "999999999999999999"},
		{"9999999999999999999999999999.9", "1e28"},
		{"1" + strings.Repeat("0", 29), "1e29"},
		{"1" + strings.Repeat("0", 5000) + "e-5000", "1"},
		{"0." + strings.Repeat("0", 5000) + "3e5001", "3"},
		{"1e-30", "1e-30"},
	} {
		a, err := ParseAmount(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got := a.String(); got != test.want {
			t.Errorf("%q is %s, want %s", test.text, got, test.want)
		}
		if again, err := ParseAmount(a.String()); err != nil || again != a {
			t.Errorf("%s is read back as %v, %v", a, again, err)
		}
	}
	for _, text := range []string{
		"", " ", ".", "+", "-", "-1", "-1e-20", "1e30", "1e-31", "9.99e-31", "1e99999999999999999999999",
		"e5", "1e", "1e+", "1e1.5", "1 2", "1..2", "1_0", "0x1", "Inf", "-nan", "¼", "１",
	} {
		if a, err := ParseAmount(text); err == nil {
			t.Errorf("%q is %v, want an error", text, a)
		}
	}
}

// Numbers of up to 18 digits are kept exactly, and their float64 is the nearest.
func TestAmountExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		text := strconv.FormatUint(random.Uint64N(1e18), 10)[:1+random.IntN(10)]
		if at := random.IntN(len(text) + 1); random.IntN(2) == 0 {
			text = text[:at] + "." + text[at:]
		}
		if random.IntN(2) == 0 {
			text += "e" + strconv.Itoa(random.IntN(30)-15)
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		a, err := ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		if a.Rat().Cmp(want) != 0 {
			t.Fatalf("%q is %v", text, a)
		}
		if back, ok := new(big.Rat).SetString(a.String()); !ok || back.Cmp(want) != 0 {
			t.Fatalf("%q is printed as %v", text, a)
		}
		if want, _ := want.Float64(); a.Float64() != want {
			t.Fatalf("%q is the float64 %v, want %v", text, a.Float64(), want)
		}
	}
}
