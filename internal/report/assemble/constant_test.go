package assemble

import (
	"math"
	"testing"

	"kir/internal/report"
	"kir/internal/search"
)

// TestConstantAmounts: of an ingredient that all draws have the same amount of, the mean amount
// has no error that they tell; of others it has one.
func TestConstantAmounts(t *testing.T) {
	m := sample(t, map[string]string{"problem.yaml": `total: 100
ingredients: [Gin, Tonic, Lime, Cassis]
sparsity: {uniform: [2, 4]}
constraints:
  - amount: {of: Cassis, min: 7, max: 7}
  - amount: {of: Lime, min: 33, max: 33}
properties:
  dry: {expression: '(units("Gin") * 0.1 + (160 - units("Gin")) * 0.1) / 20'}
sampler: {draws: 1000, chains: 4, seed: 3}
`}).model
	seen := 0
	for _, i := range m.Inclusion {
		switch i.Ingredient {
		case "Cassis", "Lime":
			seen++
			if i.MeanAmount != 7 && i.MeanAmount != 33 || i.AmountMCSE.IsKnown() {
				t.Errorf("%s has %v ± %v", i.Ingredient, i.MeanAmount, i.AmountMCSE)
			}
		default:
			if !(i.AmountMCSE > 1e-3) {
				t.Errorf("%s has %v ± %v", i.Ingredient, i.MeanAmount, i.AmountMCSE)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d amounts are fixed", seen)
	}
	// A score that never varies but in the last bit has no error either, nor has that of random
	// compositions.
	s := m.Statistics["dry"]
	if s.SEMean.IsKnown() || s.ESSBulk.IsKnown() || s.RHat.IsKnown() || s.SD != 0 {
		t.Errorf("the score that is always the same has %v ± %v, R-hat %v", s.Mean, s.SEMean, s.RHat)
	}
	if m.Score.DrawsMCSE.IsKnown() || m.Score.RandomSE.IsKnown() {
		t.Errorf("scores that are always the same have the errors %v and %v", m.Score.DrawsMCSE, m.Score.RandomSE)
	}
	for _, b := range []search.Scores{m.Answer.Random, m.Answer.Shortlist} {
		if b.SE.IsKnown() {
			t.Errorf("scores that are always the same have the error %v", b.SE)
		}
	}
}

// TestJackknifeOfAConstant: what is the same without any of the batches has no error.
func TestJackknifeOfAConstant(t *testing.T) {
	third := func(g int) float64 { return 100. / 3 * (1 + float64(g%3)*0x1p-52) }
	if se := jackknifeError(30, third); se != 0 {
		t.Errorf("the error is %v", se)
	}
	if se := jackknifeError(30, func(g int) float64 { return third(g) + 1e-9*float64(g%2) }); !(se > 1e-9) {
		t.Errorf("the error of what varies is %v", se)
	}
	if se := jackknifeError(30, func(g int) float64 { return math.NaN() }); !math.IsNaN(se) {
		t.Errorf("the error of what cannot be told is %v", se)
	}
}

// TestVolumesThatAreEqual: searches that all reach the same tell no error.
func TestVolumesThatAreEqual(t *testing.T) {
	for _, each := range [][]float64{{0.1, 0.1, 0.1, 0.1}, {0.7, 0.7 + 1e-16, 0.7, 0.7 - 1e-16}} {
		if v := newHypervolume(each); v.SE.IsKnown() || v.Value != report.Number(each[0]) {
			t.Errorf("%v is %v ± %v", each, v.Value, v.SE)
		}
	}
	if v := newHypervolume([]float64{0.1, 0.2, 0.3, 0.4}); math.Abs(float64(v.SE)-0.0645497) > 1e-6 {
		t.Errorf("the error is %v", v.SE)
	}
}
