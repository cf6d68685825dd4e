package paper

import (
	"math"
	"strings"
	"testing"

	"kir/internal/stattest"
	"kir/mcmc"
)

// A row's z, also where all sequences agree.
func TestRowZ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		exact float64
		rates []float64
		want  float64
	}{
		// Mean 0.5, sd √(1/150), standard error √(1/600).
		{"apart", 0.45, []float64{0.4, 0.6, 0.5, 0.5}, 0.05 * math.Sqrt(600)},
		{"never, and next to never", 1e-90, []float64{0, 0, 0, 0}, -1e-90 / math.Sqrt(1e-90/400)},
		{"always, by definition", 1, []float64{1, 1, 1, 1}, 0},
		// None of 400 where half was due: the standard error is 1/40.
		{"never, though likely", 0.5, []float64{0, 0, 0, 0}, -20},
		{"once where it cannot be", 1, []float64{0.99, 0.99, 0.99, 0.99}, -0.01 * 400},
	} {
		row := newRow("t", "k", Accepted, c.exact, c.rates, 100)
		if math.Abs(row.Z-c.want) > 1e-9*math.Max(1e-30, math.Abs(c.want)) {
			t.Errorf("%s: z is %v, want %v", c.name, row.Z, c.want)
		}
	}
}

// uniformSplit is a pair drawn uniformly and a split of all s+1 alike.
type uniformSplit struct{}

func (uniformSplit) Propose(r *mcmc.Rand, x, y *mcmc.Composition) (float64, error) {
	i, j := r.Intn(x.N()), r.Intn(x.N()-1)
	if j >= i {
		j++
	}
	return 0, y.Move(i, j, r.Intn(x.Amount(i)+x.Amount(j)+1))
}

// What the readings of the Gibbs column count is what the matrix has of it.
func TestGibbsReadings(t *testing.T) {
	t.Parallel()
	for _, c := range cells() {
		target := mustTarget(t, c.n, c.total, c.law)
		if _, gap := target.Law().Gap(); gap || c.n < 2 {
			continue
		}
		e, err := stattest.Law{Ingredients: c.n, Total: c.total, Size: c.size}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel(KernelGibbs, target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Matrix(target, k, stattest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want gibbsMoves
		for x, a := range e.States {
			used := 0
			for _, v := range a {
				if v > 0 {
					used++
				}
			}
			rest := float64(c.n - used)
			want.absent += e.Pi[x] * rest * (rest - 1) / float64(c.n*(c.n-1))
			for y, b := range e.States {
				grown, gone := 0, 0
				for i := range a {
					if a[i] == 0 && b[i] > 0 {
						grown++
					}
					if a[i] > 0 && b[i] == 0 {
						gone++
					}
				}
				p := e.Pi[x] * m.At(x, y)
				switch {
				case x == y:
				case grown > gone:
					want.split += p
				case grown < gone:
					want.merge += p
				case grown > 0:
					want.handover += p
				default:
					want.divide += p
				}
			}
		}
		got := gibbsExact(target)
		for _, d := range []float64{got.absent - want.absent, got.handover - want.handover, got.split - want.split, got.merge - want.merge, got.divide - want.divide} {
			if math.Abs(d) > 1e-12 {
				t.Errorf("%d ingredients, %d units: got %+v, want %+v", c.n, c.total, got, want)
				break
			}
		}

		m, err = e.Matrix(target, mcmc.NewMetropolis("uniform split", target, uniformSplit{}), stattest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, updated := m.Rates(); math.Abs(updated-uniformSplitRate(target)) > 1e-12 {
			t.Errorf("%d ingredients, %d units: a uniform split updates %v, want %v", c.n, c.total, uniformSplitRate(target), updated)
		}

		free, err := withoutCounts(target)
		if err != nil {
			t.Fatal(err)
		}
		law := map[int]float64{} // every composition weighs y(n)
		sum := 0.0
		for x := range stattest.Compositions(c.n, c.total) {
			used := 0
			for _, v := range x {
				if v > 0 {
					used++
				}
			}
			law[used] += c.size(used)
			sum += c.size(used)
		}
		for n, p := range law {
			if math.Abs(free.Law().P(n)-p/sum) > 1e-12 {
				t.Errorf("%d ingredients, %d units: without |X_n|, n = %d has probability %v, want %v", c.n, c.total, n, free.Law().P(n), p/sum)
			}
		}
	}
	readings, err := gibbsReadings([]*mcmc.Target{mustTarget(t, 10, 5, mcmc.Uniform(2, 5))}, []string{"small a"})
	if err != nil || math.Abs(readings[0].Rates[0].Value-33.06452) > 5e-6 {
		t.Errorf("the first reading is %v, %v", readings[0], err)
	}
}

// On a terminal too, rates of the chain that follows a law of its own are marked,
// and the mark is explained.
func TestTextMarksTheOwnLaw(t *testing.T) {
	r := &Report{Sequences: 10, Tables: []Table{{Rows: []Row{
		{Target: "large d", Kernel: KernelUncorrected, Rate: Accepted, Exact: 58.574, Z: -2632},
		{Target: "large d", Kernel: KernelMultinomial, Rate: Accepted},
	}}}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.Contains(line, "−2632") != strings.Contains(line, KernelUncorrected+"*") {
			t.Errorf("the mark is not where it belongs: %q", line)
		}
	}
	if !strings.Contains(b.String(), "\n* The reading of") {
		t.Errorf("the mark is not explained: %s", b.String())
	}
}
