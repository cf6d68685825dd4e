package diagnostics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"kir/diagnostics"
)

// ar1 returns n draws of an autoregressive chain with coefficient 0.9.
func ar1(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, n)
	for i := 1; i < n; i++ {
		x[i] = 0.9*x[i-1] + r.NormFloat64()
	}
	return x
}

// Two chains that agree, and two chains that stay at different places.
func ExampleSummarize() {
	s := diagnostics.Summarize([][]float64{ar1(1, 10_000), ar1(2, 10_000)})
	fmt.Printf("mean %.2f ± %.2f, R-hat %.3f, bulk ESS %.0f, tail ESS %.0f\n", s.Mean, s.MCSEMean, s.RHat, s.ESSBulk, s.ESSTail)

	apart := ar1(2, 10_000)
	for k := range apart {
		apart[k] += 5
	}
	s = diagnostics.Summarize([][]float64{ar1(1, 10_000), apart})
	fmt.Printf("R-hat %.1f\n", s.RHat)

	s = diagnostics.Summarize([][]float64{make([]float64, 100)})
	fmt.Println(s.RHat, "because", s.Undefined["RHat"])
	// Output:
	// mean -0.05 ± 0.07, R-hat 1.001, bulk ESS 1051, tail ESS 2500
	// R-hat 1.5
	// NaN because all draws are equal
}

// TestUndefined checks that a field is NaN exactly if Undefined has its reason.
func TestUndefined(t *testing.T) {
	steps := make([]float64, 100) // no draw lies above the quantile at 95 %
	for k := range steps {
		steps[k] = float64(k % 2)
	}
	for _, c := range []struct {
		chains [][]float64
		want   error
		least  int // fields that are undefined
	}{
		{nil, diagnostics.ErrNoDraws, 14},
		{[][]float64{{1, 2}, {1}}, diagnostics.ErrRagged, 14},
		{[][]float64{{1, 2, math.NaN()}}, diagnostics.ErrNotFinite, 14},
		{[][]float64{{1, 2, 3}}, diagnostics.ErrFewDraws, 1},
		{[][]float64{make([]float64, 50)}, diagnostics.ErrConstant, 1},
		{[][]float64{steps}, diagnostics.ErrConstantTail, 1},
		{[][]float64{ar1(1, 100), ar1(2, 100)}, nil, 0},
	} {
		s := diagnostics.Summarize(c.chains)
		found := false
		for field, err := range s.Undefined {
			found = found || errors.Is(err, c.want)
			if !math.IsNaN(reflect.ValueOf(s).FieldByName(field).Float()) {
				t.Errorf("%v: %s is a number, with the error %v", c.want, field, err)
			}
		}
		if len(s.Undefined) < c.least || c.want == nil && len(s.Undefined) > 0 || c.want != nil && !found {
			t.Errorf("%v: the undefined fields are %v", c.want, s.Undefined)
		}
		v := reflect.ValueOf(s)
		for k := range v.NumField() {
			name := v.Type().Field(k).Name
			if name != "Undefined" && math.IsNaN(v.Field(k).Float()) && s.Undefined[name] == nil {
				t.Errorf("%v: %s is NaN without a reason", c.want, name)
			}
		}
	}
}
