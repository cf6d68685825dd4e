package mcmc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// checkLaw compares a law with weights of 1, 2, ….
func checkLaw(t *testing.T, name string, law *mcmc.Law, weights []float64) {
	t.Helper()
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	lo, hi, gap, mean := 0, 0, 0, 0.0
	for k, w := range weights {
		n := k + 1
		if got := law.P(n); math.Abs(got-w/sum) > 1e-14*w/sum {
			t.Errorf("%s: P(%d) = %v, want %v", name, n, got, w/sum)
		}
		mean += w / sum * float64(n)
		if w > 0 {
			if lo == 0 {
				lo = n
			}
			hi = n
		}
	}
	for n := hi; n > lo; n-- {
		if weights[n-1] == 0 {
			gap = n
		}
	}
	if gotLo, gotHi := law.Support(); gotLo != lo || gotHi != hi {
		t.Errorf("%s: support %d to %d, want %d to %d", name, gotLo, gotHi, lo, hi)
	}
	if got, found := law.FirstGap(); found != (gap > 0) || got != gap {
		t.Errorf("%s: gap at %d, %v; want %d", name, got, found, gap)
	}
	if got := law.Mean(); math.Abs(got-mean) > 1e-13*mean {
		t.Errorf("%s: mean %v, want %v", name, got, mean)
	}
	for _, n := range []int{-1, 0, len(weights) + 1, 1 << 40} {
		if law.P(n) != 0 {
			t.Errorf("%s: P(%d) = %v", name, n, law.P(n))
		}
	}
}

func TestSparsityFormulas(t *testing.T) {
	const most = 9
	space, err := mcmc.NewSpace(most, 40)
	if err != nil {
		t.Fatal(err)
	}
	weights := func(f func(n float64) float64) []float64 {
		w := make([]float64, most)
		for k := range w {
			w[k] = f(float64(k + 1))
		}
		return w
	}
	normalised := func(w []float64) []float64 {
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		w = slices.Clone(w)
		for k := range w {
			w[k] /= sum
		}
		return w
	}
	bell := func(mean, sd float64) func(n float64) float64 {
		return func(n float64) float64 { return math.Exp(-(n - mean) * (n - mean) / (2 * sd * sd)) }
	}
	table := mcmc.Table(map[int]float64{-3: 7, 0: 7, 2: 13, 3: 29, 5: 3, 40: 9})
	book := []float64{0, 13, 29, 0, 3, 0, 0, 0, 0}
	first, second := normalised(weights(bell(2, 1))), normalised(weights(bell(7, 0.5)))
	mixed := make([]float64, most)
	for k := range mixed {
		mixed[k] = 3*first[k] + 2*second[k]
	}

	for _, c := range []struct {
		name    string
		y       mcmc.Sparsity
		weights []float64
	}{
		{"uniform", mcmc.Uniform(2, 5), []float64{0, 1, 1, 1, 1, 0, 0, 0, 0}},
		{"uniform past the end", mcmc.Uniform(-4, 100), weights(func(float64) float64 { return 1 })},
		{"uniform at the end", mcmc.Uniform(9, 9), []float64{0, 0, 0, 0, 0, 0, 0, 0, 1}},
		{"table", table, book},
		{"table of tiny weights", mcmc.Table(map[int]float64{1: 1e-310, 2: 3e-310}), []float64{1, 3, 0, 0, 0, 0, 0, 0, 0}},
		{"table of weights too far apart", mcmc.Table(map[int]float64{1: 1, 2: 1e-310, 3: 1}), []float64{1, 0, 1, 0, 0, 0, 0, 0, 0}},
		{"table of huge weights", mcmc.Table(map[int]float64{1: 1e308, 2: 1.5e308}), []float64{2, 3, 0, 0, 0, 0, 0, 0, 0}},
		{"normal", mcmc.Normal(3.5, 2), weights(bell(3.5, 2))},
		{"exponential", mcmc.Exponential(0.5), weights(func(n float64) float64 { return math.Exp(-0.5 * n) })},
		{"rising exponential", mcmc.Exponential(-2), weights(func(n float64) float64 { return math.Exp(2 * n) })},
		{"steep exponential", mcmc.Exponential(1e6), []float64{1, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"flat exponential", mcmc.Exponential(0), weights(func(float64) float64 { return 1 })},
		{"mixture", mcmc.Mixture(mcmc.Component{Weight: 3, Law: mcmc.Normal(2, 1)}, mcmc.Component{Weight: 2, Law: mcmc.Normal(7, 0.5)}), mixed},
		{"mixture with a share of 0", mcmc.Mixture(
			mcmc.Component{Weight: 1, Law: mcmc.Normal(2, 1)},
			mcmc.Component{Weight: 0, Law: mcmc.Uniform(50, 60)}), weights(bell(2, 1))},
		{"mixture of mixtures", mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Mixture(
			mcmc.Component{Weight: 3, Law: mcmc.Normal(2, 1)}, mcmc.Component{Weight: 2, Law: mcmc.Normal(7, 0.5)})}), mixed},
		{"power", mcmc.Power(table, 2.5), []float64{0, math.Pow(13, 2.5), math.Pow(29, 2.5), 0, math.Pow(3, 2.5), 0, 0, 0, 0}},
		{"power 0", mcmc.Power(table, 0), []float64{0, 1, 1, 0, 1, 0, 0, 0, 0}},
		{"power 1", mcmc.Power(table, 1), book},
		{"power of a power", mcmc.Power(mcmc.Power(table, 2), 0.5), book},
		{"power of a mixture", mcmc.Power(mcmc.Mixture(
			mcmc.Component{Weight: 3, Law: mcmc.Normal(2, 1)},
			mcmc.Component{Weight: 2, Law: mcmc.Normal(7, 0.5)}), 2), func() []float64 {
			w := slices.Clone(mixed)
			for k := range w {
				w[k] *= w[k]
			}
			return w
		}()},
		{"a high power", mcmc.Power(mcmc.Uniform(1, 9), 2000), weights(func(float64) float64 { return 1 })},
		{"a high power of what is uneven", mcmc.Power(mcmc.Table(map[int]float64{3: 1, 4: 2}), 5000), []float64{0, 0, 0, 1, 0, 0, 0, 0, 0}},
	} {
		law, err := c.y.On(space)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkLaw(t, c.name, law, c.weights)
	}
}

// Where a law has no mass that a float64 can hold, its support ends.
func TestSparsityUnderflow(t *testing.T) {
	space, err := mcmc.NewSpace(2000, 100)
	if err != nil {
		t.Fatal(err)
	}
	law, err := mcmc.Normal(20, math.Sqrt2).On(space)
	if err != nil {
		t.Fatal(err)
	}
	if lo, hi := law.Support(); lo != 1 || hi < 70 || hi > 80 {
		t.Errorf("support %d to %d", lo, hi)
	}
	if math.Abs(law.Mean()-20) > 1e-9 {
		t.Errorf("mean %v", law.Mean())
	}
}

// What a law was made from may change later without changing it.
func TestSparsityKeepsItsOwn(t *testing.T) {
	space, err := mcmc.NewSpace(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[int]float64{1: 1, 2: 3}
	parts := []mcmc.Component{{Weight: 1, Law: mcmc.Uniform(1, 2)}}
	table, mixture := mcmc.Table(weights), mcmc.Mixture(parts...)
	weights[2], parts[0].Weight = math.NaN(), -1
	for _, c := range []struct {
		y       mcmc.Sparsity
		weights []float64
	}{{table, []float64{1, 3, 0, 0, 0}}, {mixture, []float64{1, 1, 0, 0, 0}}} {
		law, err := c.y.On(space)
		if err != nil {
			t.Fatal(err)
		}
		checkLaw(t, "kept", law, c.weights)
	}
}

func TestSparsityErrors(t *testing.T) {
	space, err := mcmc.NewSpace(5, 3)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		y      mcmc.Sparsity
		want   string
		noMass bool
	}{
		{"nothing", mcmc.Sparsity{}, "1 to 3", true},
		{"uniform, empty", mcmc.Uniform(3, 2), "3 to 2", false},
		{"uniform, out of reach", mcmc.Uniform(4, 9), "1 to 3", true},
		{"uniform, below 1", mcmc.Uniform(-9, 0), "1 to 3", true},
		{"table, empty", mcmc.Table(nil), "1 to 3", true},
		{"table, out of reach", mcmc.Table(map[int]float64{4: 1}), "1 to 3", true},
		{"table, negative", mcmc.Table(map[int]float64{1: 1, 2: -1}), "n = 2", false},
		{"table, no number", mcmc.Table(map[int]float64{7: nan}), "n = 7", false},
		{"table, infinite", mcmc.Table(map[int]float64{1: inf}), "n = 1", false},
		{"normal, sd 0", mcmc.Normal(2, 0), "sd", false},
		{"normal, sd negative", mcmc.Normal(2, -1), "sd", false},
		{"normal, sd no number", mcmc.Normal(2, nan), "sd", false},
		{"normal, sd infinite", mcmc.Normal(2, inf), "sd", false},
		{"normal, mean no number", mcmc.Normal(nan, 1), "mean", false},
		{"normal, mean infinite", mcmc.Normal(-inf, 1), "mean", false},
		{"normal, far away", mcmc.Normal(1e6, 1), "1 to 3", true},
		{"exponential, no number", mcmc.Exponential(nan), "rate", false},
		{"exponential, infinite", mcmc.Exponential(inf), "rate", false},
		{"exponential, overflow", mcmc.Exponential(-1e6), "overflow", false},
		{"mixture, empty", mcmc.Mixture(), "no components", false},
		{"mixture, negative", mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Uniform(1, 2)}, mcmc.Component{Weight: -1, Law: mcmc.Uniform(1, 2)}), "component 2", false},
		{"mixture, no number", mcmc.Mixture(mcmc.Component{Weight: nan, Law: mcmc.Uniform(1, 2)}), "component 1", false},
		{"mixture, of a wrong law", mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Normal(1, 0)}), "component 1", false},
		{"mixture, of one out of reach", mcmc.Mixture(mcmc.Component{Weight: 1, Law: mcmc.Uniform(7, 8)}), "component 1", true},
		{"mixture, all shares 0", mcmc.Mixture(mcmc.Component{Weight: 0, Law: mcmc.Uniform(1, 2)}), "1 to 3", true},
		{"power, negative", mcmc.Power(mcmc.Uniform(1, 2), -1), "weight", false},
		{"power, no number", mcmc.Power(mcmc.Uniform(1, 2), nan), "weight", false},
		{"power, of a wrong law", mcmc.Power(mcmc.Uniform(2, 1), 1), "2 to 1", false},
		{"power, of one out of reach", mcmc.Power(mcmc.Uniform(7, 8), 1), "1 to 3", true},
	} {
		_, err := c.y.On(space)
		if err == nil || !strings.Contains(fmt.Sprint(err), c.want) || errors.Is(err, mcmc.ErrNoMass) != c.noMass {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if _, err := mcmc.NewTarget(space, c.y); err == nil {
			t.Errorf("%s makes a target", c.name)
		}
	}
}

// Two sizes of which one is 2⁻¹⁰²² of the other, further apart than a float64 goes
// once |X_n| is divided by: without scores nothing loses all its weight either.
func TestSteepLaw(t *testing.T) {
	laws := []map[int]float64{{1: 0x1p-1022, 2: 1, 3: 0x1p-1022}, {1: 1, 2: 0x1p-1022}, {3: 0x1p-1022, 4: 1}}
	for _, sizes := range laws[:testmode.Pick(3, 1)] {
		target := newTarget(t, 4, 4, mcmc.Table(sizes))
		e, err := stattest.Law{Ingredients: 4, Total: 4, Size: func(n int) float64 { return sizes[n] }}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range gridKernels {
			k, err := g.make(target)
			if err != nil {
				t.Fatalf("%v: %s: %v", sizes, g.name, err)
			}
			m, err := e.Matrix(target, k, stattest.Options{})
			if err != nil {
				t.Errorf("%v: %s: %v", sizes, g.name, err)
				continue
			}
			checks := []func() error{m.CheckRows, m.CheckSupport, m.CheckInvariant, m.CheckReversible}
			if !g.part {
				checks = append(checks, m.CheckConnected)
			}
			for _, check := range checks {
				if err := check(); err != nil {
					t.Errorf("%v: %s: %v", sizes, g.name, err)
				}
			}
		}
	}
}
