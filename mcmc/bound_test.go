package mcmc_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"kir/mcmc"
)

// someGin is 1 where the first ingredient has 2 to 5 units of 9.
func someGin(x *mcmc.Composition) float64 {
	if a := x.Amount(0); a < 2 || a > 5 {
		return 0
	}
	return 1
}

// A chain under a bound is that of a wish which is 1 or 0, whose exactness the grid proves,
// draw by draw; but that no score of it is kept.
func TestBoundIsAWishWithoutScore(t *testing.T) {
	taste := wish("taste", 2, func(x *mcmc.Composition) float64 { return 0.1 + float64(x.Amount(1)) })
	with := newTarget(t, 5, 9, mcmc.Uniform(1, 4), taste, wish("bound", 1, someGin))
	bounded, err := newTarget(t, 5, 9, mcmc.Uniform(1, 4), taste).WithBounds(mcmc.Bound{Name: "bound", Property: mcmc.ScoreFunc(someGin)})
	if err != nil {
		t.Fatal(err)
	}
	other, err := bounded.WithObjectives()
	if err != nil {
		t.Fatal(err)
	}
	if len(bounded.Objectives()) != 1 || len(bounded.Bounds()) != 1 || len(other.Bounds()) != 1 {
		t.Error("wishes and bounds are not told apart")
	}
	if _, err := mcmc.NewExact(other); err == nil {
		t.Error("exact takes a target with a bound")
	}
	for _, name := range mcmc.KernelNames() {
		if name == "exact" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := mcmc.Settings{Kernel: name, Chains: 1, Warmup: 200, Draws: 1, Thin: 1}
			var chains [2]*mcmc.Chain
			for k, target := range []*mcmc.Target{with, bounded} {
				sampler, err := s.Sampler(target)
				if err != nil {
					t.Fatal(err)
				}
				if chains[k], err = sampler.NewChain(5, 0); err != nil {
					t.Fatal(err)
				}
				if err := chains[k].Warm(s.Warmup); err != nil {
					t.Fatal(err)
				}
				chains[k].EndWarmup()
			}
			for range 300 {
				var states [2]*mcmc.State
				for k, c := range chains {
					if err := c.Advance(1); err != nil {
						t.Fatal(err)
					}
					states[k] = c.State
				}
				x := states[1].Composition
				if !x.Equal(states[0].Composition) {
					t.Fatalf("the chains part: %v and %v", states[0].Composition, x)
				}
				if someGin(x) == 0 || !bounded.Keeps(x) {
					t.Fatalf("%v breaks the bound", x)
				}
				if got, want := states[1].AppendScores(nil), states[0].AppendScores(nil); len(got) != 1 || got[0] != want[0] {
					t.Fatalf("the scores are %v", got)
				}
			}
		})
	}
}

// Two of three parts that lines do not join are forbidden by a bound and by another wish:
// what is known of one target is not taken for another.
func TestIslandsAreOfTheTarget(t *testing.T) {
	ends := func(x *mcmc.Composition) float64 {
		if x.UsedCount() == 1 && x.Amount(2) == 0 {
			return 0
		}
		return 1
	}
	all := newTarget(t, 3, 6, mcmc.Uniform(1, 1))
	if _, err := mcmc.NewKernel("gibbs", all); err != nil {
		t.Fatal(err)
	}
	corner := func(x *mcmc.Composition) float64 {
		if x.Amount(0) == 1 && x.Amount(1) == 5 || x.Amount(2) == 6 {
			return 1
		}
		return 0
	}
	wide := newTarget(t, 3, 6, mcmc.Uniform(1, 3))
	bounded, err := wide.WithBounds(mcmc.Bound{Name: "corners", Property: mcmc.ScoreFunc(corner)})
	if err != nil {
		t.Fatal(err)
	}
	wished, err := wide.WithObjectives(wish("corners", 1, corner))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []*mcmc.Target{bounded, wished} {
		if _, err := mcmc.NewKernel("gibbs", target); !errors.Is(err, mcmc.ErrReducible) {
			t.Errorf("gibbs walks between corners: %v", err)
		}
	}
	if free, err := wished.WithObjectives(wish("ends", 1, ends)); err != nil {
		t.Error(err)
	} else if _, err := mcmc.NewKernel("gibbs", free); err != nil {
		t.Errorf("without the corners: %v", err)
	}
}

// Where random compositions do not keep a bound, what leads to it finds a start; without
// that there is none, and the bound is to blame.
func TestStartLeadsToBound(t *testing.T) {
	const ingredients, total = 40, 1000
	target := newTarget(t, ingredients, total, mcmc.Uniform(2, 6), wish("flat", 1, func(*mcmc.Composition) float64 { return 1 }))
	gap := func(x *mcmc.Composition) float64 { // 640 units of 7 and 355 of 31 are wanted, within 2
		off := math.Abs(float64(x.Amount(7)-640)) + math.Abs(float64(x.Amount(31)-355))
		return max(off-2, 0)
	}
	keeps := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		if gap(x) > 0 {
			return 0
		}
		return 1
	})
	bound := mcmc.Bound{Name: "rare", Property: keeps}
	r := mcmc.NewRand(1, "bound", 0)
	shut, err := target.WithBounds(bound)
	if err != nil {
		t.Fatal(err)
	}
	var none *mcmc.NoStartError
	if _, _, err := mcmc.StartState(shut, r); !errors.As(err, &none) || none.Bound != "rare" || none.Objective != "" || none.ZeroShare != 1 {
		t.Errorf("without what leads: %v", err)
	}
	bound.Guide = logScores(func(x *mcmc.Composition) float64 { return -gap(x) / 100 })
	open, err := target.WithBounds(bound)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 20 {
		x, _, err := mcmc.StartState(open, mcmc.NewRand(uint64(k), "bound", 0))
		if err != nil {
			t.Fatal(err)
		}
		if gap(x.Composition) > 0 || x.Target() != open || !slices.Contains([]int{2, 3, 4, 5, 6}, x.Composition.UsedCount()) {
			t.Errorf("the start is %v", x.Composition)
		}
	}
	if _, err := target.WithBounds(mcmc.Bound{Name: "empty"}); err == nil {
		t.Error("a bound without a property is taken")
	}
}
