package dataset

import (
	"strings"
	"testing"
)

// Classes have an order if each of them has a place in it.
func TestOrderClasses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ classes, want string }{
		{"good poor fair", "poor fair good"}, {"★★★☆☆ ★☆☆☆☆ ★★★★★", "★☆☆☆☆ ★★★☆☆ ★★★★★"}, {"gut schlecht mittel", "schlecht mittel gut"},
		{"good high", ""}, {"red blue", ""}, {"good", ""}, {"good ★★★☆☆", ""}, {"fair blue", ""},
	} {
		order, ok := OrderClasses(strings.Fields(test.classes))
		if got := strings.Join(order, " "); got != test.want || ok != (test.want != "") {
			t.Errorf("%q: %q, %v", test.classes, got, ok)
		}
	}
}

// Compound words end in a word only where the lexicon says so: zeit does, and rate does not.
func TestCompoundWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		want Origin
	}{
		{"Backtemperatur", SetInTrial}, {"Ruhezeit", SetOrMeasured}, {"Roersnelheid", SetInTrial}, {"time", SetOrMeasured},
		{"Sodium citrate", UnknownOrigin}, {"Sausages", UnknownOrigin}, {"Concentrate", UnknownOrigin}, {"Thyme", UnknownOrigin},
	} {
		if got := GuessOrigin(test.name, false); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	for name, want := range map[string]bool{"Price (€/kg)": true, "Einkaufspreis (€/kg)": true, "Price": true, "Caprice": false, "Cost saver": false, "Preisträger": false} {
		if _, sure := summaryOf(name); sure != want {
			t.Errorf("%s: a row of prices %v, want %v", name, sure, want)
		}
	}
}

// TestLexicon: no role has an empty word, which every text without words would match.
func TestLexicon(t *testing.T) {
	for role, v := range lexicon() {
		if v.words[""] {
			t.Errorf("the role %s has an empty word", role)
		}
	}
}
