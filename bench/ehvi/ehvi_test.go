package ehvi

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

// TestChoose: a batch has different recipes, and more hypervolume than most batches by chance, whether the second loss is known
// or measured.
func TestChoose(t *testing.T) {
	var x, losses, pool, ahead [][]float64
	var known []float64
	r := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		a := r.Float64()
		b := (1 - a) * r.Float64()
		shares := []float64{a, b, 1 - a - b}
		loss := []float64{(a-0.5)*(a-0.5) + (b-0.2)*(b-0.2), (a-0.2)*(a-0.2) + (b-0.5)*(b-0.5)}
		if len(x) < 15 {
			x, losses = append(x, shares), append(losses, loss)
		} else {
			pool, ahead, known = append(pool, shares), append(ahead, loss), append(known, loss[1])
		}
	}
	volume := func(batch []int) float64 {
		all := slices.Clone(losses)
		for _, k := range batch {
			all = append(all, ahead[k])
		}
		return pareto.Hypervolume(all, []float64{1, 1})
	}
	for _, second := range [][]float64{known, nil} {
		got, err := Choose(x, losses, pool, second, 4)
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != 4 {
			t.Fatalf("chose %v", got)
		}
		better := 0
		for range 50 {
			if volume(r.Perm(len(pool))[:4]) >= volume(got) {
				better++
			}
		}
		if better > 5 {
			t.Errorf("%d of 50 batches by chance have more than %v", better, got)
		}
	}
}
