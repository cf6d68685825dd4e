package mcmc_test

import (
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

// learning is a kernel of the user's own that counts what warm-up meets.
type learning struct{ mcmc.Kernel }

type learnt struct{ warm, settled int }

func (k learning) Warm(r *mcmc.Rand, x *mcmc.State, iterations int, tally *mcmc.Tally) error {
	if x.Learnt == nil {
		x.Learnt = new(learnt)
	}
	x.Learnt.(*learnt).warm += iterations
	return k.Advance(r, x, iterations, tally)
}

func (learning) EndWarmup(x *mcmc.State) {
	if l, ok := x.Learnt.(*learnt); ok {
		l.settled++
	}
}

// A chain lets its kernel learn in warm-up, each chain by itself, and cannot be
// saved with what is not kir's own.
func TestLearner(t *testing.T) {
	target := newTarget(t, 5, 9, mcmc.Uniform(1, 3))
	k, err := mcmc.NewKernel("accelerated", target)
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := mcmc.NewKernelSampler(target, learning{k})
	if err != nil {
		t.Fatal(err)
	}
	for index := range 2 {
		c, err := sampler.NewChain(1, index)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.MarshalBinary(); err != nil {
			t.Errorf("a chain that has learnt nothing: %v", err)
		}
		for range 3 {
			if err := c.Warm(10); err != nil {
				t.Fatal(err)
			}
		}
		c.EndWarmup()
		if err := c.Advance(5); err != nil {
			t.Fatal(err)
		}
		if l := c.State.Learnt.(*learnt); *l != (learnt{30, 1}) || c.Tally().Iterations != 5 || c.ChangedCount() != c.Tally().Updated {
			t.Errorf("chain %d learnt %+v, and made %+v", index, *l, c.Tally())
		}
		if _, err := c.MarshalBinary(); err == nil {
			t.Error("what a kernel has learnt of its own is lost without an error")
		}
	}
}

// The moves of a mix are counted by name, and sum to the whole.
func TestMovesAreCounted(t *testing.T) {
	target := newTarget(t, 5, 9, mcmc.Uniform(1, 3), wish("third", 1, func(x *mcmc.Composition) float64 { return 1 + float64(x.Amount(0)%3) }))
	for _, name := range []string{"balanced", "tempered", "accelerated"} {
		c := settled(t, name, target, 1, 100)
		if err := c.Advance(2000); err != nil {
			t.Fatal(err)
		}
		tally := c.Tally()
		var sum mcmc.MoveTally
		var names []string
		for _, m := range tally.Moves {
			sum.Tried, sum.Accepted, sum.Updated = sum.Tried+m.Tried, sum.Accepted+m.Accepted, sum.Updated+m.Updated
			names = append(names, m.Name)
		}
		switch {
		case name == "accelerated" && len(names) > 0, name != "accelerated" && len(names) != 4:
			t.Errorf("%s has the moves %q", name, names)
		case name == "balanced" && (sum.Tried != 2000 || sum.Accepted != tally.Accepted || sum.Updated != tally.Updated):
			t.Errorf("the moves sum to %+v of %+v", sum, tally)
		case name == "tempered" && sum.Tried != 4*2000:
			t.Errorf("%d moves in 2000 scans", sum.Tried)
		}
	}
}

func TestKernelNames(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3))
	if !slices.IsSorted(mcmc.KernelNames()) {
		t.Errorf("%v", mcmc.KernelNames())
	}
	for _, name := range mcmc.KernelNames() {
		if _, err := mcmc.NewSampler(name, target); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := mcmc.NewSampler("acelerated", target)
	for _, name := range append(mcmc.KernelNames(), `"acelerated"`) {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want it to name %s", err, name)
		}
	}
}
