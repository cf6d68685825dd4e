package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kir/internal/pareto"
)

// TestExpectedVolumeGain compares with draws, and where nothing is uncertain with the gain.
func TestExpectedVolumeGain(t *testing.T) {
	front := [][]float64{{0.1, 0.8}, {0.4, 0.5}, {0.7, 0.2}}
	reference := []float64{1, 1}
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ mean, sd [2]float64 }{
		{[2]float64{0.3, 0.3}, [2]float64{0.2, 0.1}},
		{[2]float64{0.6, 0.6}, [2]float64{0.3, 0}},
		{[2]float64{0.2, 0.1}, [2]float64{}},
		{[2]float64{1.2, 0.1}, [2]float64{0.3, 0.3}},
	} {
		const n = 40_000
		sum, square := 0.0, 0.0
		for range n {
			v := pareto.VolumeGain([]float64{c.mean[0] + c.sd[0]*r.NormFloat64(), c.mean[1] + c.sd[1]*r.NormFloat64()}, front, reference)
			sum, square = sum+v/n, square+v*v/n
		}
		se := math.Sqrt(max(square-sum*sum, 0) / n)
		if got := expectedVolumeGain(front, reference, c.mean, c.sd); math.Abs(got-sum) > 4*se+1e-9 {
			t.Errorf("%+v: %v, by draws %v ± %v", c, got, sum, se)
		}
	}
}

// TestPlainProcess: the slope of the density is that of its differences, the process predicts a smooth function, and a
// recipe that is believed is certain from then on.
func TestPlainProcess(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	var x [][]float64
	var y []float64
	f := func(x []float64) float64 { return 5 + math.Sin(3*x[0]) - 2*x[1]*x[1] }
	for range 30 {
		a := r.Float64()
		b := (1 - a) * r.Float64()
		x = append(x, []float64{a, b, 1 - a - b})
		y = append(y, f(x[len(x)-1]))
	}
	g, err := newPlainProcess(x[:24], y[:24])
	if err != nil {
		t.Fatal(err)
	}
	p := g.predict(x[24:])
	off, all := 0.0, 0.0
	for k, v := range y[24:] {
		off += (p.mean[k] - v) * (p.mean[k] - v)
		all += (g.mean - v) * (g.mean - v)
	}
	if off > 0.05*all {
		t.Errorf("%v is predicted as %v", y[24:], p.mean)
	}
	before := slices.Clone(p.sd)
	p.believe(0)
	for k, sd := range p.sd {
		if sd > before[k] || k == 0 && sd > math.Sqrt(g.noise)*g.sd {
			t.Errorf("recipe %d: %v after %v", k, sd, before[k])
		}
	}
	at := []float64{-0.5, 0.2, 0.4, -3}
	_, slope := g.loss(at, 1, true)
	for i := range at {
		const h = 1e-5
		up, down := slices.Clone(at), slices.Clone(at)
		up[i] += h
		down[i] -= h
		above, _ := g.loss(up, 1, false)
		below, _ := g.loss(down, 1, false)
		if got := (above - below) / (2 * h); math.Abs(got-slope[i]) > 1e-4*(1+math.Abs(got)) {
			t.Errorf("slope %d is %v, not %v", i, slope[i], got)
		}
	}
}

// TestReplayEHVI: the reference arm keeps its batches of different untried recipes, and does better than random.
func TestReplayEHVI(t *testing.T) {
	o := hill(t)
	var err error
	if o.second, err = readSecond(t.Context(), "", table{prices: []float64{5, 1, 2}}, o); err != nil {
		t.Fatal(err)
	}
	last := make(map[string]float64)
	for _, a := range []arm{{"random", random}, {"ehvi", ehvi}} {
		r, err := replayOne(t.Context(), o, a, 3, 8)
		if err != nil {
			t.Fatal(err)
		}
		last[a.name] = r.Regret[len(r.Regret)-1]
	}
	if last["ehvi"] >= last["random"] {
		t.Errorf("regret %v", last)
	}
}
