package diagnose

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestConstantButForRounding: draws of what never varies, whose last bits do, have no error, no
// effective sample size and no R-hat, whole or streamed, whatever the unit.
func TestConstantButForRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	for _, value := range []float64{160. / 14, 1e-73, -3e12 / 7} {
		for _, draws := range []int{500, 5000} {
			chains := make([][]float64, 4)
			series := make([]*Series, len(chains))
			for c := range chains {
				series[c] = NewSeries(1024, len(chains))
				for range draws {
					x := value * (1 + float64(r.IntN(9)-4)*0x1p-52)
					chains[c] = append(chains[c], x)
					series[c].Add(x)
				}
			}
			var z Summarizer
			for _, s := range []Summary{Summarize(chains), z.Series(series)} {
				if s.SD != 0 || !IsConstant(float64(s.Mean), value) && !IsConstant(value, float64(s.Mean)) || !IsConstant(float64(min(s.Median, s.Q5)), float64(s.Q95)) {
					t.Errorf("%v: the mean is %v, the deviation %v, the median %v", value, s.Mean, s.SD, s.Median)
				}
				for name, v := range map[string]float64{"MCSEMean": float64(s.MCSEMean), "SEMean": float64(s.SEMean), "SEMedian": float64(s.SEMedian), "SEQ5": float64(s.SEQ5),
					"SEQ95": float64(s.SEQ95), "ESSMean": float64(s.ESSMean), "ESSBulk": float64(s.ESSBulk), "ESSTail": float64(s.ESSTail), "RHat": float64(s.RHat)} {
					if !math.IsNaN(v) || !errors.Is(s.ReasonFor(name), ErrConstant) {
						t.Errorf("%v: %s is %v: %v", value, name, v, s.ReasonFor(name))
					}
				}
			}
			if live := z.Live(series); !math.IsNaN(live.ESS) || !math.IsNaN(live.RHat) {
				t.Errorf("%v: while it runs %+v", value, live)
			}
			if nested := NestedRHat(series); !math.IsNaN(nested) {
				t.Errorf("%v: nested R-hat is %v", value, nested)
			}
		}
	}
	if !IsConstant(3, 3) || !IsConstant(0, 0) || IsConstant(1, 1+1e-11) || IsConstant(0, 1e-300) || IsConstant(-1e-13, 1e-13) || IsConstant(1, math.Inf(1)) || IsConstant(math.NaN(), 1) {
		t.Error("what is constant is told wrongly")
	}
}

// TestStepsButForRounding: a quantile within a step whose draws differ in the last bits has the
// stated error of one whose draws are equal.
func TestStepsButForRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 2))
	for _, share := range []float64{0.3, 0.6, 0.9} {
		equal, rounded := make([][]float64, 4), make([][]float64, 4)
		for c := range equal {
			for range 1000 {
				x := 160. / 14
				if r.Float64() > share {
					x += 1 + r.Float64()
				}
				equal[c] = append(equal[c], x)
				if x == 160./14 {
					x *= 1 + float64(r.IntN(9)-4)*0x1p-52
				}
				rounded[c] = append(rounded[c], x)
			}
		}
		a, b := Summarize(equal), Summarize(rounded)
		for name, v := range map[string][2]float64{"Q5": {float64(a.SEQ5), float64(b.SEQ5)}, "Median": {float64(a.SEMedian), float64(b.SEMedian)}, "Q95": {float64(a.SEQ95), float64(b.SEQ95)}} {
			if v[1] > 0 && v[1] < 1e-9 || v[0] == 0 && v[1] != 0 {
				t.Errorf("a share of %v: the error of %s is %v, and %v where draws are rounded", share, name, v[0], v[1])
			}
		}
	}
}
