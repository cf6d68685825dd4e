package dataset

import (
	"strings"
	"testing"
)

// Formulas are read exactly, and texts that only resemble them are not.
func TestParseFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"CoCrFeNi": "Co 1 Cr 1 Fe 1 Ni 1", "Al0.5CoCrFeNi": "Al 0.5 Co 1 Cr 1 Fe 1 Ni 1", "(FeCoNi)86Al7Ti7": "Fe 86 Co 86 Ni 86 Al 7 Ti 7",
		"Na2CO3": "Na 2 C 1 O 3", "Ca(OH)2": "Ca 1 O 2 H 2", "C": "C 1", "[(CoCr)2Ni]2": "Co 4 Cr 4 Ni 2",
		"": "", "Gin": "", "Co0": "", "2Co": "", "Co)": "", "(Co": "", "Co..5": "", "((((((Co))))))": "", "pH": "", "Co-Cr": "",
	} {
		elements, ok := parseFormula(text)
		var parts []string
		for _, e := range elements {
			parts = append(parts, e.symbol+" "+e.atoms)
		}
		if got := strings.Join(parts, " "); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v, want %q", text, got, ok, want)
		}
	}
}
