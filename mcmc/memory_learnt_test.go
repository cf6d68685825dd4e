package mcmc

import (
	"math"
	"testing"
)

// A memory of independent states rests on as many as these are, and one of states that were met
// five times each on a fifth. Each of 20 estimates compares 8 chains by 40
// ingredients, whose shares have (8−1)·40 degrees of freedom, so that the mean of all has a
// relative standard error of √(2/280/20) = 1.9 %; it is allowed five of them and 2 % for the
// bias of a ratio, which fails falsely once in a million.
func TestLearntESS(t *testing.T) {
	const independent, chains, repeats = 100, 8, 20
	space, err := NewSpace(40, 60)
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(space, Uniform(8, 16))
	if err != nil {
		t.Fatal(err)
	}
	prior := NewPrior(target)
	for _, times := range []int{1, 5} {
		r, sum := NewRand(7, "learnt", uint64(times)), 0.0
		for range repeats {
			sum += WarmupESS(learntChains(t, target, chains, func(met *stateList) {
				for range independent {
					x, err := prior.Draw(r)
					if err != nil {
						t.Fatal(err)
					}
					for range times {
						met.addComposition(x)
					}
				}
			}))
		}
		if got := sum / repeats; math.Abs(got/independent-1) > 0.12 {
			t.Errorf("states met %d times rest on %.1f independent ones, want %d", times, got, independent)
		}
	}
	// Chains that are in different regions have learnt of few states.
	k := 0
	apart := learntChains(t, target, 4, func(met *stateList) {
		k++
		x := newComposition(40)
		x.addIngredient(k, 60)
		for range 1000 {
			met.addComposition(x)
		}
	})
	if got := WarmupESS(apart); got > 2 {
		t.Errorf("chains apart rest on %v states", got)
	}
	if got := WarmupESS(apart[:1]); !math.IsNaN(got) {
		t.Errorf("one chain rests on %v", got)
	}
	if got := WarmupESS(learntChains(t, target, 2, func(*stateList) {})); !math.IsNaN(got) {
		t.Errorf("chains that met nothing rest on %v", got)
	}
}

// learntChains returns chains that have met what is added.
func learntChains(t *testing.T, target *Target, chains int, add func(*stateList)) []*Chain {
	t.Helper()
	var all []*Chain
	for c := range chains {
		s, err := NewSampler("balanced", target)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := s.NewChain(3, c)
		if err != nil {
			t.Fatal(err)
		}
		add(&chain.State.ensureMemory().metStates)
		all = append(all, chain)
	}
	return all
}
