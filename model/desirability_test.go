package model

import (
	"math"
	"testing"
)

// TestDesirability: a number is wanted as much as the score of a leaf that holds nothing else.
func TestDesirability(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		want                    Want
		v, least, greatest, out float64
	}{
		{Maximize(), 3, 1, 5, 0.5}, {Maximize(), 9, 1, 5, 1}, {Maximize(), 0, 1, 5, 0}, {Maximize().WithScale(0, 6), 3, 1, 5, 0.5}, {Maximize().WithScale(0, 6), 6, 1, 5, 1},
		{Minimize(), 2, 1, 5, 0.75}, {Minimize(), 9, 1, 5, 0}, {Minimize(), 0, 1, 5, 1},
		{Between(2, 4), 2, 1, 5, 1}, {Between(2, 4), 4.1, 1, 5, 0}, {AtLeast(2), 1.9, 1, 5, 0}, {AtLeast(2), 1e9, 1, 5, 1}, {AtMost(2), 2, 1, 5, 1},
		{Maximize(), nan, 1, 5, nan}, {Between(2, 4), nan, 1, 5, nan}, {Maximize(), 3, 3, 3, nan}, {AnyOf("good"), 3, 1, 5, nan},
	} {
		if got := c.want.Desirability(c.v, c.least, c.greatest); got != c.out && !(math.IsNaN(got) && math.IsNaN(c.out)) {
			t.Errorf("%v of %v in %v to %v is %v, want %v", c.want, c.v, c.least, c.greatest, got, c.out)
		}
	}
}
