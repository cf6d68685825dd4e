package mcmc_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
)

// LogDensity, LogScore and AppendScores by hand: N = 3, M = 4, n uniform on
// 1..3; |X_2| = 9.
func TestStateByHand(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3),
		wish("first", 2, func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) }),
		wish("nothing", 0, func(x *mcmc.Composition) float64 { return 0 }),
		wish("used", 0.5, func(x *mcmc.Composition) float64 { return float64(x.UsedCount()) }))
	x, err := mcmc.NewState(target, newComposition(t, 3, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the log score", x.LogScore(), 2*math.Log(3)+0.5*math.Log(2))
	near("the log density", x.LogDensity(), math.Log(1./3/9)+2*math.Log(3)+0.5*math.Log(2))
	scores := x.AppendScores([]float64{7})
	for k, want := range []float64{7, 3, 0, 2} {
		near(fmt.Sprint("score ", k), scores[k], want)
	}
	if x.Target() != target || len(target.Objectives()) != 3 || target.Space().N() != 3 {
		t.Error("the state's target is not the target")
	}
	for _, n := range []int{-1, 0, 4, 100} {
		if got := target.LogLaw(n); !math.IsInf(got, -1) {
			t.Errorf("LogLaw(%d) = %v", n, got)
		}
	}
	if _, err := mcmc.NewState(target, newComposition(t, 3, 0, 2)); err == nil {
		t.Error("a composition of another total is a state")
	}
	if _, err := mcmc.NewState(target, newComposition(t, 3, 0, 1, 0)); err == nil {
		t.Error("a composition of more ingredients is a state")
	}
}

// Scores that a chain keeps up to date along the way are what they would be if
// they were computed anew, and its compositions stay whole.
func TestLongChainsKeepTheirScores(t *testing.T) {
	const ingredients, total = 12, 30
	tree := newTreeProperty(ingredients, total)
	spread := wish("spread", 1.5, func(x *mcmc.Composition) float64 {
		sum := 0
		for _, i := range x.Ingredients() {
			sum += x.Amount(int(i)) * x.Amount(int(i))
		}
		return 1 / float64(sum)
	})
	target := newTarget(t, ingredients, total, mcmc.Uniform(1, 8), mcmc.Objective{Name: "tree", Property: tree, Weight: 2.5}, spread)
	for _, name := range []string{"accelerated", "gibbs", "naive", "balanced"} {
		k, err := mcmc.NewKernel(name, target)
		if err != nil {
			t.Fatal(err)
		}
		c, err := mcmc.NewChain(target, k, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			if err := c.Advance(5); err != nil {
				t.Fatal(err)
			}
			x := c.State
			if err := x.Composition.Consistent(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if x.Composition.Total() != total {
				t.Fatalf("%s: total %d", name, x.Composition.Total())
			}
			want, err := target.LogScore(x.Composition)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(x.LogScore()-want) > 1e-12*math.Abs(want) {
				t.Fatalf("%s: at %v the log score is %v, want %v", name, x.Composition, x.LogScore(), want)
			}
			scores := []float64{tree.score(amounts(x.Composition)), math.Exp(spread.Property.LogScore(x.Composition))}
			if got := x.AppendScores(nil); math.Abs(got[0]/scores[0]-1) > 1e-14 || math.Abs(got[1]/scores[1]-1) > 1e-14 {
				t.Fatalf("%s: at %v the scores are %v, want %v", name, x.Composition, got, scores)
			}
		}
		if tally := c.Tally(); tally.Updated == 0 || tally.Iterations != 10_000 {
			t.Errorf("%s: %+v", name, tally)
		}
	}
}

// A state that a kernel cannot move from is an error of every kernel, which
// names it and the state.
func TestBadStates(t *testing.T) {
	zero := wish("zero", 1, func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) })
	plain, scored := newTarget(t, 3, 4, mcmc.Uniform(1, 2)), newTarget(t, 3, 4, mcmc.Uniform(1, 2), zero)
	kernels := map[string]func(*mcmc.Target) (mcmc.Kernel, error){"mine": func(t *mcmc.Target) (mcmc.Kernel, error) {
		return mcmc.NewMetropolis("mine", t, handOver{}), nil
	}}
	for _, name := range mcmc.KernelNames() {
		if name != "tempered" { // no kernel
			kernels[name] = shipped(name)
		}
	}
	for name, make := range kernels {
		for _, c := range []struct {
			target *mcmc.Target
			x      *mcmc.Composition
			spoil  func(x *mcmc.State) error
			want   string
		}{
			{plain, newComposition(t, 2, 1, 1), nil, "{0: 2, 1: 1, 2: 1} no density"},
			{scored, newComposition(t, 0, 3, 1), nil, "{1: 3, 2: 1} no density"},
			{plain, newComposition(t, 2, 2, 0), func(x *mcmc.State) error { return x.Composition.SetParts(mcmc.Part{Ingredient: 0, Amount: 5}) }, "{0: 5} sum to 5"},
		} {
			k, err := make(c.target)
			if err != nil {
				continue // exact, with a wish
			}
			x, err := mcmc.NewState(c.target, c.x.Clone())
			if err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				if err := c.spoil(x); err != nil {
					t.Fatal(err)
				}
			}
			err = k.Advance(mcmc.NewRand(1, "test", 0), x, 1, new(mcmc.Tally))
			if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
		k, err := make(plain)
		if err != nil {
			t.Fatal(err)
		}
		x, err := mcmc.NewState(newTarget(t, 3, 4, mcmc.Uniform(1, 2)), newComposition(t, 2, 2, 0))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Advance(mcmc.NewRand(1, "test", 0), x, 1, new(mcmc.Tally)); err == nil || !strings.Contains(err.Error(), "{0: 2, 1: 2} belongs to another target") {
			t.Errorf("%s moves a state of another target: %v", name, err)
		}
	}
}
