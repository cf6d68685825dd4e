package diagnose

import (
	"math"
	"math/rand/v2"
	"testing"
)

// nestedPlainly is the definition, written out.
func nestedPlainly(chains [][]float64, count int) float64 {
	mean := func(x []float64) (m float64) {
		for _, v := range x {
			m += v / float64(len(x))
		}
		return m
	}
	variance := func(x []float64) (s float64) {
		for _, v := range x {
			s += (v - mean(x)) * (v - mean(x)) / float64(len(x)-1)
		}
		return s
	}
	var of, within []float64
	for k := range count {
		var means, variances []float64
		for _, x := range chains[k*len(chains)/count : (k+1)*len(chains)/count] {
			means, variances = append(means, mean(x)), append(variances, variance(x))
		}
		of, within = append(of, mean(means)), append(within, variance(means)+mean(variances))
	}
	return math.Sqrt(1 + variance(of)/mean(within))
}

func TestNestedRHat(t *testing.T) {
	for _, c := range []struct{ chains, count, draws int }{{64, 8, 50}, {100, 10, 3}, {70, 8, 2}, {4, 2, 9}} {
		x := autoregressions(17, c.chains, c.draws, 0.5)
		for k := range x {
			for i := range x[k] {
				x[k][i] += 100 + float64(k%7)
			}
		}
		if got, want := NestedRHat(seriesOf(1000, x)), nestedPlainly(x, c.count); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d chains of %d draws: %v, want %v", c.chains, c.draws, got, want)
		}
	}
	// Chains too short for R-hat to come near 1 agree all the same, and those of
	// another law do not. With 256 chains of 20 independent draws the variance of
	// the 16 means is 1/320 of the draws', give or take √(2/15) of that, and W is
	// 1 + 1/20: ν² − 1 is 0.0030, and above 0.0125 (χ² of 63 with 15 degrees of freedom) less
	// than once in 10⁶ seeds.
	x := autoregressions(18, 256, 20, 0)
	if got := NestedRHat(seriesOf(0, x)); !(got*got-1 < 0.0125) {
		t.Errorf("independent draws: %v", got)
	}
	for k := range 16 {
		for i := range x[k] {
			x[k][i] += 3
		}
	}
	if got := NestedRHat(seriesOf(0, x)); got < 1.1 {
		t.Errorf("a superchain of another law: %v", got)
	}
	// Beyond the limit every draw counts all the same.
	long := autoregressions(19, 64, 500, 0.9)
	if got, want := NestedRHat(seriesOf(64, long)), nestedPlainly(long, 8); math.Abs(got-want) > 1e-9 {
		t.Errorf("streamed: %v, want %v", got, want)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for name, x := range map[string][][]float64{
		"none":     nil,
		"few":      {{1, 2}, {2, 3}, {1, 1}},
		"short":    {{1}, {2}, {3}, {4}},
		"ragged":   {{1, 2}, {2, 3}, {1, 1}, {1, 2, 3}},
		"infinite": {{1, 2}, {2, math.Inf(1)}, {1, 1}, {1, r.Float64()}},
		"constant": {{7, 7}, {7, 7}, {7, 7}, {7, 7}},
	} {
		if got := NestedRHat(seriesOf(0, x)); !math.IsNaN(got) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Very many streams keep less, and say what all their draws say.
func TestManySeries(t *testing.T) {
	x := autoregressions(21, 1, 20_000, 0.3)[0]
	s := NewSeries(64, 10_000)
	p, all := NewPresence(10, 10_000), NewPresence(10, 1)
	for _, v := range x {
		s.Add(v)
		p.Next()
		all.Next()
		if v > 0 {
			p.Add(3, 2)
			all.Add(3, 2)
		}
	}
	if len(s.batchSums) > 128 || len(p.batchCounts) >= len(all.batchCounts) || len(p.batchCounts) == 0 {
		t.Errorf("%d batches, %d counts of %d", len(s.batchSums), len(p.batchCounts), len(all.batchCounts))
	}
	var z Summarizer
	if got, want := z.Series([]*Series{s}), Summarize([][]float64{x}); !same(float64(got.Mean), float64(want.Mean)) || math.Abs(float64(got.MCSEMean)/float64(want.MCSEMean)-1) > 0.5 {
		t.Errorf("%v ± %v, want %v ± %v", got.Mean, got.MCSEMean, want.Mean, want.MCSEMean)
	}
	a, err := Inclusions([]*Presence{p, p, p, p})
	b, err2 := Inclusions([]*Presence{all, all, all, all})
	if err != nil || err2 != nil || a[3].Probability != b[3].Probability || a[3].MeanAmount != b[3].MeanAmount || math.Abs(a[3].MCSE/b[3].MCSE-1) > 0.5 {
		t.Errorf("%+v, want %+v: %v, %v", a[3], b[3], err, err2)
	}
}
