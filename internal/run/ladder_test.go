package run

import (
	"math"
	"testing"

	"kir/internal/number"
)

func TestWorstStep(t *testing.T) {
	none := number.Number(math.NaN()) // the last rung has no next
	for _, c := range []struct {
		rejected []number.Number
		worst    int
	}{{[]number.Number{none}, 0}, {[]number.Number{0.1, none}, 0}, {[]number.Number{0.1, 0.3, 0.2, none}, 1}, {[]number.Number{0.1, 0.3, 0.5, none}, 2}, {[]number.Number{0.3, 0.1, 0.3, none}, 0}} {
		var l Ladder
		for _, r := range c.rejected {
			l.Rungs = append(l.Rungs, Rung{Rejected: r})
		}
		if got := l.WorstStep(); got != c.worst || l.Steps() != len(c.rejected)-1 {
			t.Errorf("of %v, step %d of %d is the worst", c.rejected, got, l.Steps())
		}
	}
}
