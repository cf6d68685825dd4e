package volume

import "testing"

// TestSpreadOfAConstant: what no group differs in has no error of rounding.
func TestSpreadOfAConstant(t *testing.T) {
	without := make([]float64, populationCount)
	for g := range without {
		without[g] = 160. / 14 * (1 + float64(g%3)*0x1p-52)
	}
	if se := jackknifeSE(without); se != 0 {
		t.Errorf("the error is %v", se)
	}
	r := &Result{Sizes: []Size{{N: 1, Found: true}, {N: 2, Found: true}}, jackknifeLogShares: [][]float64{make([]float64, populationCount), make([]float64, populationCount)}}
	errors, _ := r.LawStandardErrors([]float64{0.3, 0.7}, 0)
	if want := minRelativeError * 0.3 * 0.7; errors[0] < want*(1-1e-12) || errors[0] > want*(1+1e-12) {
		t.Errorf("the error of a law whose counts no group differs in is %v, not %v", errors[0], want)
	}
}
