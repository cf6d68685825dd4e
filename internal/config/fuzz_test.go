package config

import (
	"strings"
	"testing"
)

// FuzzWritten: a number in a rule is what is written by hand, and nothing else.
func FuzzWritten(f *testing.F) {
	for _, text := range []string{"20", "1.5", "-3", ".5", "5.", "1p3", "0x10", "0b1", "1_0", "1e2", "1/2", "+1", "٣"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := parseDecimal(text)
		if ok && (strings.Trim(strings.TrimSpace(text), "-0123456789.") != "" || v.Sign() < 0 != strings.ContainsAny(text, "-") && v.Sign() != 0) {
			t.Fatalf("%q is %v", text, v)
		}
	})
}
