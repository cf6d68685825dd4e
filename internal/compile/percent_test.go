package compile

import (
	"errors"
	"regexp"
	"testing"

	"kir/internal/inputerr"
)

// TestPercentNextToNone: an amount that is offered instead of a percentage that is no whole
// number of units is one.
func TestPercentNextToNone(t *testing.T) {
	for _, total := range []string{"7", "30", "64", "1000"} {
		head := "total: " + total + "\ningredients: [Gin, Tonic]\nsparsity: {uniform: [1, 2]}\nconstraints: [{amount: {of: Gin, max: "
		_, err := load(t, head+"\"20.1234%\"}}]\n", Options{})
		var bad *inputerr.Error
		if !errors.As(err, &bad) {
			t.Fatalf("a total of %s: %v", total, err)
		}
		offered := regexp.MustCompile(`write (\S+) or (\S+),`).FindStringSubmatch(bad.Hint)
		if offered == nil {
			t.Fatalf("a total of %s: the hint is %q", total, bad.Hint)
		}
		for _, amount := range offered[1:] {
			if _, err := load(t, head+amount+"}}]\n", Options{}); err != nil {
				t.Errorf("a total of %s: %s is offered: %v", total, amount, err)
			}
		}
	}
}
