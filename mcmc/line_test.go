package mcmc_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
)

// lineOf is a property whose lines are what it is told.
type lineOf struct {
	starts []int
	value  float64
}

func (lineOf) LogScore(*mcmc.Composition) float64 { return 0 }

func (l lineOf) Scorer(*mcmc.Composition) mcmc.Scorer { return lineOfScorer{l} }

type lineOfScorer struct{ lineOf }

func (lineOfScorer) Reset() {}

func (lineOfScorer) LogScore() float64 { return 0 }

func (lineOfScorer) Moved(i, j int) {}

func (l lineOfScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	for _, start := range l.starts {
		p.Add(start, l.value)
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		line lineOf
		want string
	}{
		{lineOf{nil, 0}, "no pieces"},
		{lineOf{[]int{1}, 0}, "starts at split 1"},
		{lineOf{[]int{0, 0}, 0}, "starts at split 0 after 0"},
		{lineOf{[]int{0, 2, 1}, 0}, "starts at split 1 after 2"},
		{lineOf{[]int{0, 100_000}, 0}, "starts at split 100000"},
		{lineOf{[]int{0}, math.NaN()}, "not a number"},
		{lineOf{[]int{0}, math.Inf(1)}, "infinite"},
	} {
		for _, kernel := range []string{"accelerated", "gibbs", "balanced"} {
			target := newTarget(t, 300, 5000, mcmc.Uniform(2, 3), mcmc.Objective{Name: "odd", Property: c.line, Weight: 1})
			k, err := mcmc.NewKernel(kernel, target)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := mcmc.NewChain(target, k, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			err = chain.Advance(10_000)
			if err == nil || !strings.HasPrefix(err.Error(), kernel+": ") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"odd"`) || !strings.Contains(err.Error(), "{") {
				t.Errorf("%s: got %v, want %q", kernel, err, c.want)
			}
		}
	}
}

// Scores at the end of what a float64 holds: their differences, and those at β = 9,
// are never ∞ − ∞, and what is greater together is told.
func TestGreatestScores(t *testing.T) {
	huge := func(sign float64) mcmc.Objective {
		return mcmc.Objective{Name: "huge", Weight: 1, Property: logScores(func(x *mcmc.Composition) float64 {
			return sign * 1.5e308 * (float64(x.Amount(0)) / float64(x.Total()))
		})}
	}
	for _, sign := range []float64{1, -1} {
		target := newTarget(t, 3, 4, mcmc.Uniform(1, 3), huge(sign))
		for _, kernel := range []string{"accelerated", "gibbs", "naive", "balanced", "tempered"} {
			c := settled(t, kernel, target, 1, 2000)
			want := 4 // all of the first ingredient
			if sign < 0 {
				want = 0
			}
			for range 200 {
				if err := c.Advance(5); err != nil {
					t.Fatalf("%s: %v", kernel, err)
				}
				if got := c.State.Composition.Amount(0); got != want {
					t.Fatalf("%+g, %s: at %v", sign, kernel, c.State.Composition)
				}
			}
			if l := c.Ladder(); l != nil && math.IsInf(l.LogZ, 0) {
				t.Errorf("log Z is %v where no draw tells", l.LogZ)
			}
		}
	}

	// At a peak, from the worst there is: each way to a better one is taken, though 9
	// times either score is −∞.
	down := newTarget(t, 3, 4, mcmc.Uniform(1, 3), mcmc.Objective{Name: "down", Weight: 1, Property: logScores(func(x *mcmc.Composition) float64 {
		return -1e308 * (0.5 + float64(x.Amount(0))/float64(x.Total()))
	})})
	worst, best := newComposition(t, 4, 0, 0), newComposition(t, 0, 4, 0)
	for _, g := range gridKernels {
		if g.name == "exact" || g.name == "balanced's resize" {
			continue
		}
		k, err := g.make(down)
		if err != nil {
			t.Fatal(err)
		}
		x, err := mcmc.NewState(down, worst.Clone())
		if err != nil {
			t.Fatal(err)
		}
		// Of 300 candidates one in twenty at least is better, all but once in 10⁶.
		if err := (atBeta{k, 9}).Advance(mcmc.NewRand(1, "peak", 0), x, 300, new(mcmc.Tally)); err != nil {
			t.Fatal(err)
		}
		if x.Composition.Amount(0) == 4 {
			t.Errorf("%s does not leave %v", g.name, x.Composition)
		}
	}
	p, err := mcmc.NewReplicas(down, []float64{0, 1, 3, 9}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range []*mcmc.Composition{best, best, best, worst} {
		if err := p.Set(k, x.Clone()); err != nil {
			t.Fatal(err)
		}
	}
	r := mcmc.NewRand(1, "swaps", 0)
	for range 300 { // of which a tenth is tried
		p.Swap(r, 0)
	}
	if x := p.State(3).Composition; !x.Equal(best) {
		t.Errorf("the peaks do not swap, and at 9 stays %v", x)
	}

	twice := huge(1)
	twice.Name = "twice"
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3), huge(1), twice)
	x := newComposition(t, 4, 0, 0)
	var score *mcmc.ScoreError
	if _, err := target.LogScore(x); !errors.As(err, &score) || score.Objective != "twice" || !strings.Contains(err.Error(), "scale them down") {
		t.Errorf("got %v", err)
	}
	if _, err := mcmc.NewState(target, x); !errors.As(err, &score) || score.Objective != "twice" {
		t.Errorf("got %v", err)
	}
}
