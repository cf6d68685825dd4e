package dataset

import "testing"

// Numbers with marks keep their value, their standard deviation or their bound.
func TestParseMarkedNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]markedNumber{
		"<5": {value: "5", bound: true}, "> 100": {value: "100", bound: true}, "≤0.1%": {value: "0.1%", bound: true},
		"85 ± 6": {value: "85", spread: "6"}, "85+/-0.5": {value: "85", spread: "0.5"}, "85 (6)": {value: "85", spread: "6"}, "3,3 ± 0,2": {value: "3,3", spread: "0,2"},
		"12.5*": {value: "12.5"}, "-0.60 %*": {value: "-0.60 %"}, "7†": {value: "7"},
		"5": {}, "": {}, "8?": {}, "<": {}, "± 6": {}, "85 ±": {}, "a ± 6": {}, "(6)": {}, "<a": {}, "85 (n=6)": {},
	} {
		if m, ok := parseMarkedNumber(text); m != want || ok != (want != markedNumber{}) {
			t.Errorf("%q is %+v, %v, want %+v", text, m, ok, want)
		}
	}
}
