package paper

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"kir/internal/paper"
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

// kernels are the multinomial proposals and their closed forms.
var kernels = map[string]struct {
	proposal Multinomial
	rates    func(*mcmc.Target) (paper.Rates, error)
}{"corrected": {Multinomial{}, multinomialRates}, "uncorrected": {Multinomial{Uncorrected: true}, uncorrectedRates}}

// The closed forms equal the rates of the transition matrix, in equilibrium.
func TestRatesAreTheMatrix(t *testing.T) {
	t.Parallel()
	checked := map[string]int{}
	for _, c := range cells() {
		target := mustTarget(t, c.n, c.total, c.law)
		for name, kernel := range kernels {
			k := mcmc.NewMetropolis(name, target, kernel.proposal)
			law := stattest.Law{Ingredients: c.n, Total: c.total, Size: c.size}
			e, err := law.Enumerate()
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Matrix(target, k, stattest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			pi := e.Pi
			if kernel.proposal.Uncorrected {
				law.Objectives = []stattest.Objective{{Score: multinomialProbability, Weight: 1}}
				e, err := law.Enumerate()
				if err != nil {
					t.Fatal(err)
				}
				pi = e.Pi
				wrong, err := UncorrectedLaw(target)
				if err != nil {
					t.Fatal(err)
				}
				for n, p := range e.Used() {
					if n < len(wrong) && math.Abs(p-wrong[n]) > 1e-12 {
						t.Errorf("%d ingredients, %d units: the uncorrected chain has n = %d with probability %v, not %v", c.n, c.total, n, p, wrong[n])
					}
				}
				if err := invariant(m, pi); err != nil {
					t.Errorf("%d ingredients, %d units, %s: %v", c.n, c.total, name, err)
				}
			} else if err := m.Check(true); err != nil {
				t.Errorf("%d ingredients, %d units, %s: %v", c.n, c.total, name, err)
			}
			var want paper.Rates
			for x, p := range pi {
				want.Accepted += p * m.Accepted[x]
				want.Updated += p * m.Updated[x]
			}
			got, err := kernel.rates(target)
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

// multinomialProbability is, up to a factor, how many ways of throwing the
// units give x, counted one unit after the other.
func multinomialProbability(x []int) float64 {
	ways, thrown := 1.0, 0.0
	for _, a := range x {
		for k := 1; k <= a; k++ {
			thrown++
			ways *= thrown / float64(k)
		}
	}
	return ways
}

// invariant verifies that π P = π for another law than the target.
func invariant(m *stattest.Matrix, pi []float64) error {
	for y := range pi {
		sum := 0.0
		for x, p := range pi {
			if p > 0 {
				sum += p * m.At(x, y)
			}
		}
		if math.Abs(sum-pi[y]) > 1e-12 {
			return fmt.Errorf("a step makes %v of the probability %v of %v", sum, pi[y], m.Enumeration.States[y])
		}
	}
	return nil
}

// The uncorrected proposal does not leave the target as it is.
func TestUncorrectedIsWrong(t *testing.T) {
	t.Parallel()
	target := mustTarget(t, 3, 4, mcmc.Uniform(1, 3))
	e, err := stattest.Law{Ingredients: 3, Total: 4, Size: func(int) float64 { return 1 }}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Matrix(target, mcmc.NewMetropolis("multinomial", target, Multinomial{Uncorrected: true}), stattest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CheckInvariant(); !errors.Is(err, stattest.ErrInvariant) {
		t.Errorf("got %v, want that the target is not invariant", err)
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
		if _, gap := target.Law().FirstGap(); gap || c.n < 2 {
			continue
		}
		e, err := stattest.Law{Ingredients: c.n, Total: c.total, Size: c.size}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		k, err := mcmc.NewKernel(paper.KernelGibbs, target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Matrix(target, k, stattest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want paper.GibbsMoves
		for x, a := range e.States {
			used := 0
			for _, v := range a {
				if v > 0 {
					used++
				}
			}
			rest := float64(c.n - used)
			want.Absent += e.Pi[x] * rest * (rest - 1) / float64(c.n*(c.n-1))
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
					want.Split += p
				case grown < gone:
					want.Merge += p
				case grown > 0:
					want.Handover += p
				default:
					want.Divide += p
				}
			}
		}
		got := paper.Gibbs(target)
		for _, d := range []float64{got.Absent - want.Absent, got.Handover - want.Handover, got.Split - want.Split, got.Merge - want.Merge, got.Divide - want.Divide} {
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
}

// TestColumns: the paper's naive rates are those of the uncorrected multinomial proposal,
// within four of the paper's standard errors, and neither of the corrected one nor of
// uniform candidates; and no reading gives its updated rates of gibbs, to their digits.
func TestColumns(t *testing.T) {
	var targets []*mcmc.Target
	var published []float64
	naive := 0
	for _, s := range paper.Settings() {
		for _, l := range s.Targets {
			target, err := s.Target(l)
			if err != nil {
				t.Fatal(err)
			}
			if p := paper.PublishedRate(l.Name, paper.KernelGibbs, paper.Updated); p.Mean != nil {
				targets, published = append(targets, target), append(published, *p.Mean)
			}
			p := paper.PublishedRate(l.Name, paper.KernelNaive, paper.Accepted)
			if p.Mean == nil || p.SD == nil {
				continue
			}
			naive++
			uniform, err := paper.Exact(paper.KernelNaive, target)
			if err != nil {
				t.Fatal(err)
			}
			rates := map[string]float64{"uniform": uniform.Accepted}
			for name, k := range kernels {
				r, err := k.rates(target)
				if err != nil {
					t.Fatal(err)
				}
				rates[name] = r.Accepted
			}
			for name, rate := range rates {
				z := (*p.Mean - 100*rate) / (*p.SD / math.Sqrt(10))
				t.Logf("%s: the paper has %.2f %%, %s candidates exactly %.3f %%, %.1f standard errors off", l.Name, *p.Mean, name, 100*rate, z)
				if (math.Abs(z) < 4) != (name == "uncorrected") {
					t.Errorf("%s: the paper's naive rate is %.1f standard errors from that of %s candidates", l.Name, z, name)
				}
			}
		}
	}
	readings, err := gibbsReadings(targets)
	if err != nil || naive != 2 || len(targets) != 6 {
		t.Fatal(naive, len(targets), err)
	}
	t.Logf("the paper's gibbs column: %.2f", published)
	for _, r := range readings {
		t.Logf("%s: %.3f", r.name, r.rates)
		same := 0
		for k, rate := range r.rates {
			if math.Abs(rate-published[k]) <= 0.005 {
				same++
			}
		}
		if same == len(published) {
			t.Errorf("the paper's gibbs column is: %s", r.name)
		}
	}
	if math.Abs(readings[0].rates[0]-33.06452) > 5e-6 {
		t.Errorf("the first reading is %v", readings[0])
	}
}

// TestRoads: occupancy, partitions and the sums of logs, by hand.
func TestRoads(t *testing.T) {
	// 3 balls in 4 bins: 64 ways, of which 4 into one, 36 into two, 24 into three.
	for n, want := range []float64{0, 4. / 64, 36. / 64, 24. / 64} {
		if got := math.Exp(occupancy(4, 3)[n]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d bins of 4 are taken by 3 balls with %v, not %v", n, got, want)
		}
	}
	if got := len(occupancy(2, 9)); got != 3 {
		t.Errorf("of 2 bins up to %d are taken", got-1)
	}
	for _, c := range []struct {
		total, most, want int
	}{{5, 5, 7}, {5, 2, 3}, {5, 1, 1}, {30, 30, 5604}, {1, 1, 1}} {
		n := 0
		if all := partitions(c.total, c.most, func(parts []int) bool { n++; return true }); !all || n != c.want {
			t.Errorf("%d has %d partitions into at most %d parts, not %d", c.total, n, c.most, c.want)
		}
		n = 0
		if all := partitions(c.total, c.most, func([]int) bool { n++; return n < 2 }); all != (c.want == 1) && n != 2 {
			t.Errorf("of %d, %d were looked at", c.total, n)
		}
	}
	if checkUnits(mostUnits) != nil || !errors.Is(checkUnits(mostUnits+1), errTooLong) {
		t.Error("the bound of the units is another")
	}
	inf := math.Inf(-1)
	if logAdd(inf, 2) != 2 || logAdd(2, inf) != 2 || !math.IsInf(logAdd(inf, inf), -1) || math.Abs(logAdd(0, math.Log(2))-math.Log(3)) > 1e-15 || math.Abs(logAdd(math.Log(2), 0)-math.Log(3)) > 1e-15 {
		t.Error("logs do not add up")
	}
}
