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
