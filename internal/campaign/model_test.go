package campaign

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/mcmc"
)

// someRecipes are recipes of three ingredients, and a smooth function of them with noise.
func someRecipes(n int) (recipes []recipe, values []float64) {
	r := mcmc.NewRand(5, "process", 0)
	for range n {
		a := 1 + r.Intn(98)
		b := r.Intn(100 - a)
		x := []mcmc.Part{{Ingredient: 0, Amount: a}}
		if b > 0 {
			x = append(x, mcmc.Part{Ingredient: 1, Amount: b})
		}
		if c := 100 - a - b; c > 0 {
			x = append(x, mcmc.Part{Ingredient: 2, Amount: c})
		}
		recipes = append(recipes, recipe{parts: x})
		values = append(values, math.Sin(float64(a)/20)+float64(b)/100+0.05*drawNormal(r))
	}
	return recipes, values
}

// TestProcess: what a process says of a point that was left out is what a process that was
// not given it says, with the same lengths and noise; and it predicts what it should.
func TestProcess(t *testing.T) {
	recipes, values := someRecipes(60)
	g, err := newGaussianProcess(t.Context(), recipes, values, nil, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	if g.R2() < 0.9 || g.Noise() < 0.02 || g.Noise() > 0.15 {
		t.Errorf("R² %.3f, noise %.3f of 0.05", g.R2(), g.Noise())
	}
	off, all := 0.0, 0.0
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for out := range recipes {
		h := &gaussianProcess{totalUnits: g.totalUnits, inverseSquareLengths: g.inverseSquareLengths, noiseRatio: g.noiseRatio, priorMean: g.priorMean, statedNoiseRatios: make([]float64, len(recipes)-1)}
		var y []float64
		for k, x := range recipes {
			if k != out {
				h.points, y = append(h.points, newPoint(x, 100)), append(y, values[k]-g.priorMean)
			}
		}
		if !h.fit(y) {
			t.Fatal("no factor")
		}
		predicted, _ := h.Predict(recipes[out])
		off += (values[out] - predicted) * (values[out] - predicted)
		rest := (mean*float64(len(values)) - values[out]) / float64(len(values)-1)
		all += (values[out] - rest) * (values[out] - rest)
	}
	if r2 := 1 - off/all; math.Abs(r2-g.R2()) > 1e-6 {
		t.Errorf("R² of the left out is %.9f, and said to be %.9f", r2, g.R2())
	}
}

// TestProcessTrusts: a value that was measured badly moves the prediction less, and one of
// a new measurement has the error in the middle. The number of one recipe is raised by 1,
// of numbers that differ by about 0.7.
func TestProcessTrusts(t *testing.T) {
	moved := func(sd float64) (by, noise float64) {
		recipes, values := someRecipes(40)
		spreads := slices.Repeat([]float64{0.05}, len(values))
		spreads[7] = sd
		var mean [2]float64
		for k := range mean {
			g, err := newGaussianProcess(t.Context(), recipes, values, spreads, 3, 100)
			if err != nil {
				t.Fatal(err)
			}
			mean[k], _ = g.Predict(recipes[7])
			noise = g.Noise()
			values[7]++
		}
		return mean[1] - mean[0], noise
	}
	well, noise := moved(0.05)
	badly, _ := moved(1e9)
	if !(well > 0.1) || !(math.Abs(badly) < well/10) || !(noise > 0.04) {
		t.Errorf("a number that is raised by 1 raises the prediction by %v, and by %v where it was measured badly; the noise is %v", well, badly, noise)
	}
	if _, usual := relativeNoiseVariances([]float64{0, 1, 2}, []float64{math.NaN(), 1, math.NaN()}); math.Abs(usual-1.5) > 1e-12 {
		t.Errorf("the share of a variance of 1 in one of 2/3 is %v", usual)
	}
}

// TestWarpSpread: a standard deviation goes where its value does; of logarithms it is
// relative.
func TestWarpSpread(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	if w := newWarp(values, true); math.Abs(w.scoreSD(16, 1.6)-w.scoreSD(64, 6.4)) > 0.05 || !(w.scoreSD(16, 1.6) > 0) {
		t.Errorf("a tenth of 16 and of 64 are %v and %v", w.scoreSD(16, 1.6), w.scoreSD(64, 6.4))
	}
	w := newWarp(values, false)
	if !(w.scoreSD(2, 0.5) > w.scoreSD(128, 0.5)) || w.scoreSD(16, 0) != 0 || !math.IsNaN(w.scoreSD(16, math.NaN())) {
		t.Errorf("0.5 of 2 and of 128 are %v and %v", w.scoreSD(2, 0.5), w.scoreSD(128, 0.5))
	}
}

// TestProcessDraws: joint draws have the means and standard deviations that are predicted,
// and neighbours move together. The bounds hold with a probability of 1 − 1e-6 each.
func TestProcessDraws(t *testing.T) {
	recipes, values := someRecipes(15)
	g, err := newGaussianProcess(t.Context(), recipes, values, nil, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	at := []recipe{recipes[0]}
	for _, parts := range [][]mcmc.Part{{{Ingredient: 0, Amount: 50}, {Ingredient: 1, Amount: 50}}, {{Ingredient: 0, Amount: 51}, {Ingredient: 1, Amount: 49}}, {{Ingredient: 2, Amount: 100}}} {
		at = append(at, recipe{parts: parts})
	}
	const n = 4000
	draws := g.Draws(at, n, mcmc.NewRand(1, "draws", 0))
	moments := func(k int) (mean, sd float64) {
		for _, d := range draws {
			mean += d[k] / n
		}
		for _, d := range draws {
			sd += (d[k] - mean) * (d[k] - mean) / (n - 1)
		}
		return mean, math.Sqrt(sd)
	}
	for k, x := range at {
		mean, sd := g.Predict(x)
		m, s := moments(k)
		if math.Abs(m-mean) > 5*sd/math.Sqrt(n) || math.Abs(s/sd-1) > 5/math.Sqrt(2*n)+1e-3 {
			t.Errorf("%d: %.4f ± %.4f, predicted %.4f ± %.4f", k, m, s, mean, sd)
		}
	}
	m1, s1 := moments(1)
	m2, s2 := moments(2)
	r := 0.0
	for _, d := range draws {
		r += (d[1] - m1) * (d[2] - m2) / (n - 1) / s1 / s2
	}
	if r < 0.9 {
		t.Errorf("neighbours have a correlation of %.3f", r)
	}
}

// TestImprovement compares the closed form with an integral, and its logarithm with that
// far out.
func TestImprovement(t *testing.T) {
	for _, c := range []struct{ mean, sd, b float64 }{{0, 1, 0}, {1, 2, 0.5}, {-3, 1, 1}, {5, 0.1, 2}, {0, 0, 1}, {2, 0, 1}} {
		want := max(c.mean-c.b, 0)
		if c.sd > 0 {
			want = 0
			const step = 1e-3
			for z := -10.0; z < 10; z += step {
				want += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * max(c.mean+c.sd*z-c.b, 0)
			}
		}
		if got := expectedImprovement(c.mean, c.sd, c.b); math.Abs(got-want) > 1e-6 {
			t.Errorf("%+v: %g, want %g", c, got, want)
		}
	}
	for z := -5.9; z < 4; z += 0.1 {
		if a, b := logExpectedImprovement(z, 1, 0), math.Log(expectedImprovement(z, 1, 0)); math.Abs(a-b) > 1e-6 {
			t.Errorf("z = %.1f: %g, want %g", z, a, b)
		}
	}
	before := math.Inf(-1)
	for z := -60.0; z < 0; z += 0.05 {
		v := logExpectedImprovement(z, 1, 0)
		if !(v > before) || math.IsInf(v, 0) {
			t.Fatalf("z = %.2f: %g after %g", z, v, before)
		}
		before = v
	}
	if a, b := logExpectedImprovement(-6.0001, 1, 0), logExpectedImprovement(-5.9999, 1, 0); math.Abs(a-b) > 0.01 {
		t.Errorf("%g and %g where the forms meet", a, b)
	}
}

// TestWarp: scores come back as values, keep their order, go on beyond the ends, and few
// values far off move the others little.
func TestWarp(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 5000}
	w := newWarp(values, false)
	for _, v := range append(values, 0, -4, 3.5, 6000) {
		if back := w.value(w.score(v)); math.Abs(back-v) > 1e-9*math.Abs(v)+1e-9 {
			t.Errorf("%g comes back as %g", v, back)
		}
	}
	before := math.Inf(-1)
	for v := -10.0; v < 6000; v += 7 {
		if z := w.score(v); !(z > before) {
			t.Fatalf("%g has the score %g, after %g", v, z, before)
		} else {
			before = z
		}
	}
	if spread := w.score(9) - w.score(1); spread < w.score(5000)-w.score(9) {
		t.Errorf("the one far off has %g, all others %g", w.score(5000)-w.score(9), spread)
	}
}

// TestIntervalWarp: the scores of intervals come back as values and keep their order. Between the
// measured values they are those of the warp. Beyond values that crowd at an end they grow more
// slowly, so that an interval reaches farther; beyond values that thin out they are those of the
// warp.
func TestIntervalWarp(t *testing.T) {
	values := make([]float64, 21)
	for k := range values {
		values[k] = 400 - float64((20-k)*(20-k)) // crowds at 400, thins out at 0
	}
	for _, log := range []bool{false, true} {
		if log {
			for k, v := range values {
				values[k] = math.Exp(v / 100)
			}
		}
		w := newWarp(values, log)
		top, bottom := values[20], values[0]
		before := math.Inf(-1)
		for _, v := range []float64{bottom * 0.9, bottom * 0.99, bottom, bottom + 0.5, (bottom + top) / 2, top, top * 1.01, top * 1.5, top * 3} {
			z := w.intervalScore(v)
			if back := w.intervalValue(z); math.Abs(back-v) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("%g comes back as %g", v, back)
			}
			if v <= top && z != w.score(v) || v > top && !(z < w.score(v)) {
				t.Errorf("%g has the score %g in intervals, %g of the warp", v, z, w.score(v))
			}
			if z < before {
				t.Errorf("%g has the score %g, after %g", v, z, before)
			}
			before = z
		}
	}
	mirrored := make([]float64, len(values))
	for k := range values {
		values[k] = 400 - float64((20-k)*(20-k))
		mirrored[k] = -values[k]
	}
	w, m := newWarp(values, false), newWarp(mirrored, false)
	for _, v := range []float64{-40, 100, 400, 410, 600} {
		if a, b := w.intervalScore(v), m.intervalScore(-v); math.Abs(a+b) > 1e-9 || math.Abs(m.intervalValue(b)+v) > 1e-9 {
			t.Errorf("%g has the score %g, mirrored %g, which comes back as %g", v, a, b, m.intervalValue(b))
		}
	}
	// A value far off leaves the slope as it is. Two values have the slope between them.
	near, far := newWarp([]float64{0, 10, 25, 50, 75, 100, 150, 200, 300, 400}, false), newWarp([]float64{0, 10, 25, 50, 75, 100, 150, 200, 300, 4e5}, false)
	if a, b := near.centralSlope(), far.centralSlope(); a != b || !(a > 0) {
		t.Errorf("the slope is %g, and %g with a value far off", a, b)
	}
	if w := newWarp([]float64{0, 10}, false); w.centralSlope() != (w.scores[1]-w.scores[0])/10 {
		t.Errorf("two values with the scores %v have the slope %g", w.scores, w.centralSlope())
	}
}

// TestPredictBeyond: an interval that reaches beyond all measurements, which crowd below their best,
// ends farther from its prediction on this side than the warp says.
func TestPredictBeyond(t *testing.T) {
	recipes, values := someRecipes(21)
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for rank, k := range order {
		values[k] = 400 - float64((20-rank)*(20-rank))
	}
	for _, way := range []config.Direction{config.Maximize, config.Minimize} {
		o := &learntObjective{direction: way, learningSettings: &compile.Learning{Numeric: true}, modelValueSign: 1, intervalWidening: 1}
		if err := o.learnNumbers(t.Context(), recipes, values, nil, 3, 100); err != nil {
			t.Fatal(err)
		}
		best := recipes[order[20]]
		mean, sd := o.model.Predict(best)
		half := float64(coverageNormalQuantile * o.model.IntervalScale() * math.Hypot(sd, o.model.Noise()))
		score := float64(o.modelValueSign * mean)
		low, high := o.warp.value(score-half), o.warp.value(score+half)
		p := o.predict(best)
		if !(p.Value > low && p.Value < high && high > 400) || math.Abs(p.Low-low) > 1e-6 || !(p.High-400 > 1.2*(high-400)) {
			t.Errorf("%v predicted with its warp from %g to %g", p, low, high)
		}
		twice := o.warp.intervalValue(o.warp.intervalScore(p.Value) + 2*half)
		if r := o.distanceInHalfIntervals(PredictionCheck{Predicted: p, Measured: twice}); math.Abs(r-2) > 1e-9 {
			t.Errorf("twice as far as the end of the interval is %g half intervals away", r)
		}
	}
	// The ends of an interval are equally far from a prediction beyond all measurements.
	o := &learntObjective{learningSettings: &compile.Learning{Numeric: true}, modelValueSign: 1, intervalWidening: 1, warp: newWarp(values, false)}
	o.model = fixedSurrogate{mean: o.warp.scores[20] + 1}
	p := o.predict(recipe{})
	down, up := o.warp.intervalScore(p.Value)-o.warp.intervalScore(p.Low), o.warp.intervalScore(p.High)-o.warp.intervalScore(p.Value)
	if math.Abs(down-coverageNormalQuantile) > 1e-9 || math.Abs(up-coverageNormalQuantile) > 1e-9 {
		t.Errorf("the ends of the interval are %g and %g from the prediction", down, up)
	}
}

// A fixedSurrogate predicts the same of every recipe, with a standard deviation of 1.
type fixedSurrogate struct {
	Surrogate
	mean float64
}

func (s fixedSurrogate) Predict(recipe) (mean, sd float64) { return s.mean, 1 }
func (fixedSurrogate) Noise() float64                      { return 0 }
func (fixedSurrogate) IntervalScale() float64              { return 1 }
