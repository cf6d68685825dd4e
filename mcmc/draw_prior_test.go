package mcmc_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"kir/mcmc"
)

// StartState draws again while a property is 0, and says how often.
func TestStartTries(t *testing.T) {
	target := newTarget(t, 50, 10, mcmc.Uniform(1, 3), wish("has 0", 1, func(x *mcmc.Composition) float64 { return float64(x.Amount(0)) }))
	r := mcmc.NewRand(1, "test", 0)
	tries := 0
	for range 100 {
		x, n, err := mcmc.StartState(target, r)
		if err != nil {
			t.Fatal(err)
		}
		if x.Composition.Amount(0) == 0 || n < 1 || math.IsInf(x.LogDensity(), 0) {
			t.Fatalf("%v after %d", x.Composition, n)
		}
		tries += n
	}
	// A draw has ingredient 0 with probability (1+2+3)/3/50 = 0.04: 2,500
	// draws are expected for 100, with an sd of 245. Six of those are passed
	// with probability below 1e-8; the seed is fixed.
	if tries < 1030 || tries > 3970 {
		t.Errorf("%d draws for 100 starts", tries)
	}
}

// DrawsToScore yields the draws of Draw, whether or not a property gets them in advance, and LogScores the scores of
// LogScore. A property that scores many at a time is asked 64 times less often.
func TestDrawsToScore(t *testing.T) {
	const ingredients, total, count = 5, 4, 150
	tree := newTreeProperty(ingredients, total)
	var calls, compositions int
	batch := batched{tree, 2, func(xs []*mcmc.Composition) { calls, compositions = calls+1, compositions+len(xs) }}
	for _, p := range []mcmc.Property{tree, batch} {
		space, err := mcmc.NewSpace(ingredients, total)
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), mcmc.Objective{Name: "tree", Property: p, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		calls, compositions = 0, 0
		oneByOne, r := mcmc.NewPrior(target), mcmc.NewRand(3, "test", 0)
		var all []*mcmc.Composition
		for x, err := range mcmc.NewPrior(target).DrawsToScore(t.Context(), mcmc.NewRand(3, "test", 0), count) {
			if err != nil {
				t.Fatal(err)
			}
			want, err := oneByOne.Draw(r)
			if err != nil {
				t.Fatal(err)
			}
			if !x.Equal(want) {
				t.Fatalf("draw %d is %v, not %v", len(all), x, want)
			}
			all = append(all, x.Clone())
		}
		wantCalls, wantCompositions := 0, 0
		if _, ok := p.(mcmc.BatchProperty); ok {
			wantCalls, wantCompositions = 3, count
		}
		if len(all) != count || calls != wantCalls || compositions != wantCompositions {
			t.Errorf("%T: %d draws, %d in %d calls", p, len(all), compositions, calls)
		}
		for k, score := range (mcmc.Objective{Property: p}).LogScores(all) {
			if want := tree.LogScore(all[k]); score != want {
				t.Errorf("%T: score %d is %v, not %v", p, k, score, want)
			}
		}
		if calls != 2*wantCalls || compositions != 2*wantCompositions {
			t.Errorf("%T: scores by %d compositions in %d calls", p, compositions, calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		drawn := 0
		for _, err = range mcmc.NewPrior(target).DrawsToScore(ctx, mcmc.NewRand(3, "test", 0), count) {
			drawn++
			cancel()
		}
		if !errors.Is(err, context.Canceled) || drawn > 65 {
			t.Errorf("%T: after the context has ended: %d draws, %v", p, drawn, err)
		}
	}
}
