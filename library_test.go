package kir_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kir"
	"kir/mcmc"
)

// threeOfSix returns a problem without objectives, with a kernel that the program has built.
func threeOfSix(t *testing.T) *kir.Problem {
	t.Helper()
	space, err := mcmc.NewSpace(6, 12)
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 3))
	if err != nil {
		t.Fatal(err)
	}
	p, err := kir.New("six", target)
	if err != nil {
		t.Fatal(err)
	}
	p.Kernel = turns{mcmc.NewMetropolis("swap", target, swap{}), mcmc.NewMetropolis("share", target, share{})}
	p.Settings.Chains, p.Settings.Draws = 2, 500
	return p
}

// TestDraws checks that the draws of a result are those of its statistics, and that the sequence ends early when the
// reader stops or the context ends.
func TestDraws(t *testing.T) {
	p := threeOfSix(t)
	result, err := p.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	draws, uses := 0, make(map[string]int)
	for d, err := range result.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Chain != draws/500 || d.Draw != draws%500 {
			t.Fatalf("draw %d is called draw %d of chain %d", draws, d.Draw, d.Chain)
		}
		share, units := 0.0, 0
		for _, a := range d.Amounts {
			share, units = share+a.Share, units+a.Units
			uses[a.Ingredient]++
		}
		if len(d.Amounts) != 3 || units != 12 || share < 1-1e-12 || share > 1+1e-12 {
			t.Fatalf("draw %d has the amounts %v", draws, d.Amounts)
		}
		draws++
	}
	if draws != 1000 {
		t.Errorf("there are %d draws", draws)
	}
	for name, f := range result.Inclusion {
		if got := float64(uses[name]) / 1000; got != f.Mean {
			t.Errorf("%v of the draws use %s, and its inclusion is %v", got, name, f.Mean)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range result.Draws(ctx) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	for range result.Draws(t.Context()) {
		break
	}
	for _, err := range new(kir.Result).Draws(t.Context()) {
		if err == nil {
			t.Error("the result of no run has draws")
		}
	}
}

// TestOwnKernelStored checks that the run of a kernel that the program has built is stored, and that the draws stay
// readable.
func TestOwnKernelStored(t *testing.T) {
	p := threeOfSix(t)
	p.Directory = filepath.Join(t.TempDir(), "run")
	result, err := p.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	draws := 0
	for _, err := range result.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		draws++
	}
	if draws != 1000 {
		t.Errorf("there are %d draws", draws)
	}
}

// TestOwnKernelName checks that the name of such a kernel alone samples nothing.
func TestOwnKernelName(t *testing.T) {
	p := threeOfSix(t)
	p.Kernel, p.Settings.Kernel = nil, "own"
	if _, err := p.Sample(t.Context()); err == nil || !strings.Contains(err.Error(), "own") {
		t.Errorf("the kernel %q: %v", p.Settings.Kernel, err)
	}
}

// TestStateString checks what a program sees that prints a state.
func TestStateString(t *testing.T) {
	p := threeOfSix(t)
	x, err := mcmc.NewComposition(6, mcmc.Part{Ingredient: 1, Amount: 4}, mcmc.Part{Ingredient: 2, Amount: 7}, mcmc.Part{Ingredient: 5, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	state, err := mcmc.NewState(p.Target(), x)
	if err != nil {
		t.Fatal(err)
	}
	// C(6, 3) sets, and C(11, 2) ways to divide 12 units among three: log(1/1100)
	if got, want := state.String(), "{1: 4, 2: 7, 5: 1}, log density -7.00307"; got != want {
		t.Errorf("a state prints as %q, not %q", got, want)
	}
}
