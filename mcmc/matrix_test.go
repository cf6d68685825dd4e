package mcmc_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// someCells returns the cells of one space.
func someCells(t *testing.T, ingredients, total int) []cell {
	t.Helper()
	all, err := cells(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// someMatrix returns the matrix of a kernel, nil where the kernel refuses or
// nothing has positive probability.
func someMatrix(t *testing.T, c cell, g gridKernel, o stattest.Options) *stattest.Matrix {
	t.Helper()
	e, err := c.law.Enumerate()
	if err != nil {
		return nil
	}
	k, err := g.make(c.target)
	if err != nil {
		return nil
	}
	m, err := e.Matrix(c.target, k, o)
	if err != nil {
		t.Fatalf("%s on %s: %v", g.name, c.name, err)
	}
	return m
}

// The order in which a composition lists its ingredients is an accident of how
// it came about. It decides which ingredient a random integer picks, and must
// not decide with which probability.
func TestMatrixDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	compared := 0
	for index, c := range someCells(t, 4, 3) {
		if index%testmode.Pick(1, 19) != 0 {
			continue
		}
		for _, g := range gridKernels {
			if g.most > 0 && index%testmode.Pick(19, 190) != 0 {
				continue // too many outcomes to see all
			}
			m := someMatrix(t, c, g, stattest.Options{Order: 1})
			if m == nil {
				continue
			}
			for order := uint64(2); order < 5; order++ {
				if err := m.Compare(someMatrix(t, c, g, stattest.Options{Order: order})); err != nil {
					t.Errorf("%s on %s: %v", g.name, c.name, err)
				}
				compared++
			}
		}
	}
	t.Logf("%d pairs of matrices", compared)
}

// Two iterations are one after the other: what the first leaves behind in the
// state, in scorers above all, does not mislead the second.
func TestTwoIterationsAreTheSquare(t *testing.T) {
	t.Parallel()
	compared := 0
	sizes := [][2]int{{2, 2}, {2, 4}, {3, 3}, {3, 4}}
	for _, size := range sizes[:testmode.Pick(4, 3)] {
		for index, c := range someCells(t, size[0], size[1]) {
			if !runs(index) {
				continue
			}
			for _, g := range gridKernels {
				if g.every > 0 && (size[1] > 3 || testmode.RaceDetector) || g.most > 0 && size[1] > 2 {
					continue
				}
				m := someMatrix(t, c, g, stattest.Options{})
				if m == nil {
					continue
				}
				if err := m.Square().Compare(someMatrix(t, c, g, stattest.Options{Iterations: 2})); err != nil {
					t.Errorf("%s on %s: %v", g.name, c.name, err)
				}
				compared++
			}
		}
	}
	t.Logf("%d matrices", compared)
}

// A kernel takes another path when there are no wishes. A property that is 1
// everywhere must change nothing.
func TestPropertyThatIsOneChangesNothing(t *testing.T) {
	t.Parallel()
	one := scored{"one", mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 }), func([]int) float64 { return 1 }}
	size := testmode.Pick(4, 3)
	space, err := mcmc.NewSpace(size, size)
	if err != nil {
		t.Fatal(err)
	}
	mix := mcmc.MoveMix{Line: 3, Resize: 1, Refresh: 0.5, Recall: 0.5} // the default depends on the objectives
	for _, l := range sizeLaws(size) {
		bare, err := newCell(space, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		wished, err := newCell(space, l, []weighed{{one, 2.5}})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range append(gridKernels, gridKernel{name: "a mix", make: mixed(mix)}) {
			if g.name == "exact" || strings.HasPrefix(g.name, "balanced, taught") || g.name == "balanced" {
				continue
			}
			m, q := someMatrix(t, bare, g, stattest.Options{}), someMatrix(t, wished, g, stattest.Options{})
			if (m == nil) != (q == nil) {
				t.Errorf("%s on %s: with the property %v, without it %v", g.name, l.name, q != nil, m != nil)
			} else if m != nil {
				if err := m.Compare(q); err != nil {
					t.Errorf("%s on %s: %v", g.name, l.name, err)
				}
			}
		}
	}
}

// A property that can score a line is worth as much as one that is asked point
// by point.
func TestLinesScoreAsPoints(t *testing.T) {
	t.Parallel()
	ingredients, total := testmode.Pick(4, 3), testmode.Pick(5, 4)
	space, err := mcmc.NewSpace(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	tree := newTreeProperty(ingredients, total)
	grown, err := grownForest(ingredients, total)
	if err != nil {
		t.Fatal(err)
	}
	for _, byLine := range []scored{{"tree", tree, tree.score}, grown} {
		if _, ok := byLine.property.(mcmc.LineProperty); !ok {
			t.Fatalf("%s does not score lines", byLine.name)
		}
		byPoint := byLine
		byPoint.property = mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return byLine.plain(amounts(x)) })
		compared := 0
		for _, l := range sizeLaws(ingredients) {
			line, err := newCell(space, l, []weighed{{byLine, 2.5}})
			if err != nil {
				t.Fatal(err)
			}
			point, err := newCell(space, l, []weighed{{byPoint, 2.5}})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gridKernels {
				if g.every > 0 {
					continue
				}
				if m := someMatrix(t, line, g, stattest.Options{}); m != nil {
					if err := m.Compare(someMatrix(t, point, g, stattest.Options{})); err != nil {
						t.Errorf("%s, %s on %s: %v", byLine.name, g.name, l.name, err)
					}
					compared++
				}
			}
		}
		if compared == 0 {
			t.Errorf("%s: nothing compared", byLine.name)
		}
	}
}

// The rates in equilibrium on 10 ingredients and 5 units, in percent. Each is
// also known in closed form.
func TestRates(t *testing.T) {
	for index, law := range []struct {
		name     string
		sparsity mcmc.Sparsity
		weight   func(n int) float64
		rates    map[string][2]float64 // accepted and updated; 0 for not given
	}{
		{"uniform{2..5}", mcmc.Uniform(2, 5), func(n int) float64 {
			if n < 2 {
				return 0
			}
			return 1
		}, map[string][2]float64{
			"accelerated": {95.63623, 53.77804},
			"gibbs":       {100, 33.06452},
			"naive":       {68.93107, 0},
		}},
		{"exp(-.25(n-3)^2)", mcmc.Normal(3, math.Sqrt2), func(n int) float64 {
			return math.Exp(-0.25 * float64((n-3)*(n-3)))
		}, map[string][2]float64{
			"accelerated": {95.94827, 57.73827},
			"gibbs":       {100, 30.64639},
			"naive":       {67.64533, 0},
		}},
	} {
		if index > 0 && !testmode.Enabled() {
			break
		}
		e, err := stattest.Law{Ingredients: 10, Total: 5, Size: law.weight}.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		if len(e.States) != 2002 {
			t.Fatalf("%d states, want 2002", len(e.States))
		}
		space, err := mcmc.NewSpace(10, 5)
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, law.sparsity)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range law.rates {
			t.Run(law.name+"/"+name, func(t *testing.T) {
				if testmode.RaceDetector {
					t.Skip("takes too long under the race detector")
				}
				t.Parallel()
				k, err := mcmc.NewKernel(name, target)
				if err != nil {
					t.Fatal(err)
				}
				// A candidate of naive is reached in up to 725,760 ways, so
				// its rows are computed for one state of those that differ by
				// the ingredients' names only.
				alike := name == "naive"
				m, err := e.Matrix(target, k, stattest.Options{Alike: alike})
				if err != nil {
					t.Fatal(err)
				}
				if !alike {
					if err := m.Check(true); err != nil {
						t.Error(err)
					}
				}
				accepted, updated := m.Rates()
				t.Logf("%.5f %% accepted, %.5f %% updated", 100*accepted, 100*updated)
				for k, got := range []float64{accepted, updated} {
					if want[k] != 0 && math.Abs(100*got-want[k]) > 0.5e-5 {
						t.Errorf("%.5f %%, want %.5f %%", 100*got, want[k])
					}
				}
			})
		}
	}
}

// Where the objectives forbid everything there is no chain to start.
func TestNothingAllowed(t *testing.T) {
	space, err := mcmc.NewSpace(3, 3)
	if err != nil {
		t.Fatal(err)
	}
	never := mcmc.Objective{Name: "never", Property: mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 0 }), Weight: 1}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), never)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := mcmc.StartState(target, mcmc.NewRand(1, "test", 0)); !errors.Is(err, mcmc.ErrNoStart) {
		t.Errorf("got %v, want ErrNoStart", err)
	}
}
