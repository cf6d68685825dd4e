package rule

import (
	"fmt"
	"math"
	"testing"
)

// A bound is moved from where it is to the figures that there are: one that lies
// beyond all of them from just beyond, so that the first notch is the nearest figure.
func TestBoundKnobs(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{-inf, inf, ""},
		{2.5, inf, "lower the min of x from 2.5 to 2.4, at most 5"},
		{-inf, 2.5, "raise the max of x from 2.5 to 2.6, at most 15"},
		{7, inf, "lower the min of x from 7 to 4, at most 21"},
		{-inf, 1, "raise the max of x from 1 to 2, at most 21"},
		{1, inf, ""},
		{2, inf, ""},
		{2.1, inf, "lower the min of x from 2.1 to 2, at most 1"},
		{-inf, 4, ""},
		{-inf, 3.9, "raise the max of x from 3.9 to 4, at most 1"},
	} {
		got := ""
		for _, k := range boundKnobs(c.lo, c.hi, 20, 40, 10, func(lo, hi float64) Rule { return Limit{Min: lo, Max: hi} }) {
			got += fmt.Sprintf("%s, at most %d", k.text(1, "x"), k.limit)
			r := k.turn(1).(Limit)
			if moved := r.Min != c.lo; moved == (r.Max != c.hi) {
				t.Errorf("from %v to %v is turned to %+v", c.lo, c.hi, r)
			}
		}
		if got != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}
