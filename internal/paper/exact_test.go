package paper

import (
	"errors"
	"math"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

func mustTarget(t *testing.T, n, total int, law mcmc.Sparsity) *mcmc.Target {
	t.Helper()
	space, err := mcmc.NewSpace(n, total)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, law)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// The figures that are known of the paper's targets, in percent.
func TestExactOfPaper(t *testing.T) {
	want := map[string]struct {
		accelerated, acceleratedUpdated, gibbs, naive float64
		naiveDigits                                   int
		iact                                          float64
	}{
		"small a": {95.63623, 53.77804, 33.06452, 68.93107, 7, 26},
		"small b": {95.94827, 57.73827, 30.64639, 67.64533, 7, 24},
		"large a": {99.58885, 50.28645, 1.02944, 3.7e-95, 2, 2515},
		"large b": {99.55664, 50.27661, 1.00469, 2.4e-91, 2, 873},
		"large c": {99.59895, 50.25595, 0.92064, 1.9e-97, 2, 8173},
		"large d": {99.97665, 50.04204, 0.12717, 9.4e-19, 2, 15136},
	}
	for _, s := range Settings() {
		for _, l := range s.Targets {
			w := want[l.Name]
			target, err := s.Target(l)
			if err != nil {
				t.Fatal(err)
			}
			rates := func(kernel string) Rates {
				r, err := Exact(kernel, target)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			check := func(what string, got, want, within float64) {
				if math.Abs(100*got-want) > within {
					t.Errorf("%s: %s is %.7g %%, want %.7g", l.Name, what, 100*got, want)
				}
			}
			check("accelerated accepted", rates(KernelAccelerated).Accepted, w.accelerated, 5.1e-6)
			check("accelerated updated", rates(KernelAccelerated).Updated, w.acceleratedUpdated, 5.1e-6)
			check("gibbs accepted", rates(KernelGibbs).Accepted, 100, 0)
			check("gibbs updated", rates(KernelGibbs).Updated, w.gibbs, 5.1e-6)
			check("naive accepted", rates(KernelNaive).Accepted, w.naive, 0.51*math.Pow10(int(math.Floor(math.Log10(w.naive)))+1-w.naiveDigits))
			iact, err := IACTBound(target)
			if err != nil || math.Abs(iact-w.iact) > 0.51 {
				t.Errorf("%s: the bound on the IACT is %v, %v; want %v", l.Name, iact, err, w.iact)
			}
		}
	}
}

// cell is a target on a small space, written down twice.
type cell struct {
	n, total int
	law      mcmc.Sparsity
	size     func(n int) float64
}

func cells() []cell {
	table := map[int]float64{1: 0.3, 2: 1e-3, 3: 5, 4: 2}
	gap := map[int]float64{1: 1, 3: 2}
	var all []cell
	for n := 1; n <= 4; n++ {
		for total := 1; total <= 5; total++ {
			all = append(all,
				cell{n, total, mcmc.Uniform(1, 5), func(int) float64 { return 1 }},
				cell{n, total, mcmc.Exponential(2), func(n int) float64 { return math.Exp(-2 * float64(n)) }},
				cell{n, total, mcmc.Table(table), func(n int) float64 { return table[n] }},
				cell{n, total, mcmc.Uniform(1, 1), func(n int) float64 { return map[int]float64{1: 1}[n] }},
				cell{n, total, mcmc.Table(gap), func(n int) float64 { return gap[n] }},
			)
		}
	}
	return all
}

// The closed forms equal the rates of the transition matrix, which is made of
// the shipping kernels, in equilibrium.
func TestExactIsTheMatrix(t *testing.T) {
	t.Parallel()
	checked := map[string]int{}
	for _, c := range cells() {
		target := mustTarget(t, c.n, c.total, c.law)
		for _, name := range []string{KernelNaive, KernelGibbs, KernelAccelerated} {
			k, err := mcmc.NewKernel(name, target)
			if errors.Is(err, mcmc.ErrReducible) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			law := stattest.Law{Ingredients: c.n, Total: c.total, Size: c.size}
			e, err := law.Enumerate()
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Matrix(target, k, stattest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Check(true); err != nil {
				t.Errorf("%d ingredients, %d units, %s: %v", c.n, c.total, name, err)
			}
			var want Rates
			for x, p := range e.Pi {
				want.Accepted += p * m.Accepted[x]
				want.Updated += p * m.Updated[x]
			}
			got, err := Exact(name, target)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Accepted-want.Accepted) > 1e-12 || math.Abs(got.Updated-want.Updated) > 1e-12 {
				t.Errorf("%d ingredients, %d units, %s: the closed form is %v and the matrix has %v", c.n, c.total, name, got, want)
			}
			checked[name]++
		}
	}
	for name, n := range checked {
		if n < 40 {
			t.Errorf("%s was checked on %d targets only", name, n)
		}
	}
	t.Log(checked)
}

// The bound on the IACT is one, and close, where the whole matrix is known.
func TestIACTBound(t *testing.T) {
	t.Parallel()
	for _, c := range []cell{
		{4, 5, mcmc.Uniform(1, 4), func(int) float64 { return 1 }},
		{5, 5, mcmc.Uniform(2, 4), func(n int) float64 { return map[int]float64{2: 1, 3: 1, 4: 1}[n] }},
		{6, 4, mcmc.Exponential(0.5), func(n int) float64 { return math.Exp(-0.5 * float64(n)) }},
	} {
		target := mustTarget(t, c.n, c.total, c.law)
		e, err := stattest.Law{Ingredients: c.n, Total: c.total, Size: c.size}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		k, err := mcmc.NewKernel(KernelAccelerated, target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Matrix(target, k, stattest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := IACTBound(target)
		if err != nil {
			t.Fatal(err)
		}
		if truth := iactOfUsed(m); !(bound <= truth+1e-9 && bound > 0.98*truth) {
			t.Errorf("%d ingredients, %d units: the bound is %v and the truth %v", c.n, c.total, bound, truth)
		} else {
			t.Logf("%d ingredients, %d units: bound %.4f, truth %.4f", c.n, c.total, bound, truth)
		}
	}
}

// iactOfUsed is 1 + 2 Σ_t ρ_t of n(x) in equilibrium, summed lag by lag.
func iactOfUsed(m *stattest.Matrix) float64 {
	e := m.Enumeration
	f := make([]float64, len(e.States))
	mean := 0.0
	for x, state := range e.States {
		for _, a := range state {
			if a > 0 {
				f[x]++
			}
		}
		mean += e.Pi[x] * f[x]
	}
	for x := range f {
		f[x] -= mean
	}
	dot := func(a, b []float64) (sum float64) {
		for x, p := range e.Pi {
			sum += p * a[x] * b[x]
		}
		return sum
	}
	variance, tau, g := dot(f, f), 1.0, f
	for {
		next := make([]float64, len(g))
		for x := range next {
			if e.Pi[x] == 0 {
				continue
			}
			for y := range g {
				next[x] += m.At(x, y) * g[y]
			}
		}
		g = next
		rho := dot(f, g) / variance
		tau += 2 * rho
		if rho < 1e-12 {
			return tau
		}
	}
}

// What has no closed form within reach says so.
func TestNoClosedForm(t *testing.T) {
	t.Parallel()
	huge := mustTarget(t, 10, 1_000_000, mcmc.Uniform(1, 3))
	wished, err := mcmc.NewTarget(huge.Space(), mcmc.Uniform(1, 3), mcmc.Objective{Name: "w", Weight: 1, Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel string
		target *mcmc.Target
	}{
		{"exact", huge},
		{KernelAccelerated, wished},
	} {
		if r, err := Exact(c.kernel, c.target); !errors.Is(err, ErrNoClosedForm) {
			t.Errorf("%s: got %v, %v", c.kernel, r, err)
		}
	}
	if b, err := IACTBound(wished); !errors.Is(err, ErrNoClosedForm) {
		t.Errorf("IACT: got %v, %v", b, err)
	}
}
