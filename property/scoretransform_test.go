package property_test

import (
	"math"
	"testing"

	"kir/internal/portable"
	"kir/mcmc"
	"kir/model"
	"kir/property"
)

// TestLevel compares lines and points of a bound, and of what leads to it, with the
// prediction that is bounded, and runs the kernels' matrix gate on a small space.
func TestLevel(t *testing.T) {
	for _, c := range []struct {
		name        string
		least, most float64
	}{{"between", 1, 1.6}, {"at least", 1.4, math.Inf(1)}, {"at most", math.Inf(-1), 1.1}} {
		t.Run(c.name, func(t *testing.T) {
			hard, soft := must(property.HardBounds(c.least, c.most)), must(property.SoftBounds(c.least, c.most, 0.2))
			of := func(m *model.LearnedModel, d *property.Desirability) mcmc.LineProperty {
				score := must(m.Score(model.Maximize().WithScale(-5, 10)))
				return property.NewScoreTransform(property.NewLearned(score.Uncalibrated(), 0), func(log float64) float64 { return -5 + 15*portable.Exp(log) }, d)
			}
			m := learned(t, 8, 50, true, true, model.BestKind)
			value := func(x []int) float64 {
				amounts := int32s(x)
				return m.Predict(amounts).Value
			}
			walkLines(t, of(m, hard), 8, 50, 60, func(x []int) float64 {
				if v := value(x); c.least <= v && v <= c.most {
					return 1
				}
				return 0
			}, 1e-12)
			walkLines(t, of(m, soft), 8, 50, 60, func(x []int) float64 {
				v := value(x)
				return math.Exp(-max(c.least-v, v-c.most, 0) / 0.2)
			}, 1e-5)
			small := learned(t, 3, 4, true, true, model.BestKind)
			checkKernels(t, of(small, soft), 3, 4, 1.5)
			if c.name != "between" { // which leaves what lines do not join
				checkKernels(t, of(small, hard), 3, 4, 1)
			}
		})
	}
	for _, bad := range [][3]float64{{2, 1, 1}, {math.NaN(), 1, 1}, {0, 1, 0}, {0, 1, math.Inf(1)}} {
		if _, err := property.SoftBounds(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func int32s(x []int) []int32 {
	amounts := make([]int32, len(x))
	for i, a := range x {
		amounts[i] = int32(a)
	}
	return amounts
}
