package measure

import "testing"

// Numbers without a digit before the mark are numbers, and marks alone are none.
func TestPlainNumber(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5", ".5": ".5", ".25": ".25", "1.5": "1.5", "1,234.5": "1234.5", "1,234": "1234", "1,234,567.89": "1234567.89",
		"": "", ".": "", ",": "", "1,23": "", "1,2345": "", "1,234 567": "", "a": "", "1.2.3": "",
	} {
		if got, ok := plainNumber(text, '.', ','); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %t; want %q", text, got, ok, want)
		}
	}
}
