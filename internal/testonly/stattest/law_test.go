package stattest_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/mcmc"
)

// The number of compositions of each size is C(N, n)·C(M−1, n−1), and their
// law of n is what was asked for, each size divided evenly.
func TestEnumerate(t *testing.T) {
	size := func(n int) float64 { return 1 / float64(n*n) }
	for ingredients := 1; ingredients <= 6; ingredients++ {
		for total := 1; total <= 7; total++ {
			e, err := stattest.Law{Ingredients: ingredients, Total: total, Size: size}.Enumerate()
			if err != nil {
				t.Fatal(err)
			}
			counts := make(map[int]int64)
			for s, x := range e.States {
				if s > 0 && slices.Compare(e.States[s-1], x) >= 0 {
					t.Fatalf("%v before %v", e.States[s-1], x)
				}
				sum, n := 0, 0
				for _, a := range x {
					sum += a
					n += min(a, 1)
				}
				if sum != total {
					t.Fatalf("%v does not sum to %d", x, total)
				}
				counts[n]++
			}
			mass := 0.0
			for n := 1; n <= min(ingredients, total); n++ {
				mass += size(n)
			}
			for n := 1; n <= ingredients; n++ {
				want := new(big.Int).Binomial(int64(ingredients), int64(n))
				want.Mul(want, new(big.Int).Binomial(int64(total-1), int64(n-1)))
				if counts[n] != want.Int64() {
					t.Errorf("N=%d M=%d: %d compositions of %d, want %v", ingredients, total, counts[n], n, want)
				}
				p := 0.0
				if n <= total {
					p = size(n) / mass
				}
				if got := e.Used()[n]; math.Abs(got-p) > 1e-13 {
					t.Errorf("N=%d M=%d: n = %d has probability %v, want %v", ingredients, total, n, got, p)
				}
			}
		}
	}
}

// Rules take compositions out of the count that a size is divided by.
func TestEnumerateRules(t *testing.T) {
	e, err := stattest.Law{
		Ingredients: 3, Total: 4,
		Size:     func(n int) float64 { return float64(n) },
		Feasible: func(x []int) bool { return x[0] > 0 && x[1] != 1 },
		Objectives: []stattest.Objective{
			{Score: func(x []int) float64 { return float64(x[0]) }, Weight: 2},
			{Score: func(x []int) float64 { return 0 }, Weight: 0},
		},
	}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	// By hand: one of size 1; 103 202 220 301 130 of size 2; 121 of size 3.
	weights := map[[3]int]float64{
		{4, 0, 0}: 1. * 16, {1, 0, 3}: 2. / 5, {2, 0, 2}: 2. / 5 * 4, {2, 2, 0}: 2. / 5 * 4,
		{3, 0, 1}: 2. / 5 * 9, {1, 3, 0}: 2. / 5, {1, 2, 1}: 3. / 1,
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if len(e.States) != len(weights) {
		t.Fatalf("states %v", e.States)
	}
	for s, x := range e.States {
		if want := weights[[3]int(x)] / sum; math.Abs(e.Pi[s]-want) > 1e-15 {
			t.Errorf("%v has probability %v, want %v", x, e.Pi[s], want)
		}
		if got, ok := e.Index(composition(t, x...)); !ok || got != s {
			t.Errorf("%v is state %d, got %d", x, s, got)
		}
	}
	for _, x := range [][]int{{3, 0, 0}, {1, 1, 2}, {0, 4, 0}, {4, 0, 0, 0}} {
		if _, ok := e.Index(composition(t, x...)); ok {
			t.Errorf("%v is a state", x)
		}
	}
}

func composition(t *testing.T, amounts ...int) *mcmc.Composition {
	t.Helper()
	var parts []mcmc.Part
	for i, a := range amounts {
		if a > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: a})
		}
	}
	x, err := mcmc.NewComposition(len(amounts), parts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestEnumerateRefuses(t *testing.T) {
	constant := func(v float64) func([]int) float64 { return func([]int) float64 { return v } }
	flat := func(int) float64 { return 1 }
	for name, l := range map[string]stattest.Law{
		"too large":      {Ingredients: 2000, Total: 100, Size: flat},
		"forbidden":      {Ingredients: 2, Total: 2, Size: flat, Objectives: []stattest.Objective{{Score: constant(0), Weight: 1}}},
		"negative":       {Ingredients: 2, Total: 2, Size: flat, Objectives: []stattest.Objective{{Score: constant(-1), Weight: 1}}},
		"no number":      {Ingredients: 2, Total: 2, Size: flat, Objectives: []stattest.Objective{{Score: constant(math.NaN()), Weight: 1}}},
		"infinite":       {Ingredients: 2, Total: 2, Size: flat, Objectives: []stattest.Objective{{Score: constant(math.Inf(1)), Weight: 1}}},
		"nothing obeys":  {Ingredients: 2, Total: 2, Size: flat, Feasible: func([]int) bool { return false }},
		"no mass at all": {Ingredients: 2, Total: 2, Size: func(int) float64 { return 0 }},
	} {
		if _, err := l.Enumerate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCompositionsStops(t *testing.T) {
	seen := 0
	for range stattest.Compositions(4, 4) {
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d seen", seen)
	}
}
