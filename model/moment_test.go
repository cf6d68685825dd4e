package model

import (
	"math"
	"testing"
)

// TestErrorOfEqualNumbers: the standard error of equal numbers is none of what rounding leaves.
func TestErrorOfEqualNumbers(t *testing.T) {
	for _, v := range []float64{0.1, 1. / 3, 1e-7 / 3, 1e9 / 7} {
		var same, other meanAccumulator
		for k := range 997 {
			same.add(v)
			other.add(v * (1 + 1e-5*float64(k%2)))
		}
		if se := same.standardError(); se != 0 {
			t.Errorf("of %v it is %v", v, se)
		}
		if se := other.standardError(); math.Abs(se/(v*0.5e-5/math.Sqrt(996))-1) > 0.01 {
			t.Errorf("of %v and a little more it is %v", v, se)
		}
	}
}
