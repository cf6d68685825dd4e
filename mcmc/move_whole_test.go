package mcmc_test

import (
	"fmt"
	"math"
	"testing"

	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// batched is a property that wants so many candidates drawn at once.
type batched struct {
	mcmc.LineProperty
	candidates int
	prefetched func(xs []*mcmc.Composition)
}

func (b batched) Batch() int { return b.candidates }

func (b batched) Prefetch(xs []*mcmc.Composition) { b.prefetched(xs) }

// Moves that draw several candidates at once leave the target as it is, and say
// beforehand what they will ask for: nothing that rules or the law forbid.
func TestBatchesMatrix(t *testing.T) {
	t.Parallel()
	checked, measured := 0, 0
	for _, size := range [][3]int{{2, 2, 3}, {2, 3, 2}, {3, 2, 2}} {
		ingredients, total, candidates := size[0], size[1], size[2]
		space, err := mcmc.NewSpace(ingredients, total)
		if err != nil {
			t.Fatal(err)
		}
		tree := newTreeProperty(ingredients, total)
		asked := 0
		p := scored{"batched", batched{tree, candidates, func(xs []*mcmc.Composition) { asked += len(xs) }}, tree.score}
		for index, l := range sizeLaws(space.MaxUsed()) {
			c, err := newCell(space, l, []weighed{{p, 2.5}})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range []gridKernel{
				{name: "refresh", make: mixed(mcmc.MoveMix{Refresh: 1})},
				{name: "recall", make: mixed(mcmc.MoveMix{Recall: 1, Refresh: 0.5})},
				{name: "recall, taught", make: taught(mixed(mcmc.MoveMix{Recall: 1, Refresh: 0.5}))},
			} {
				if g.name == "recall, taught" && (candidates > 2 || !testmode.Enabled() && index%4 != 1) {
					continue // so many outcomes that they take long, or that their rounding adds up
				}
				name := fmt.Sprintf("%s of %d on %s", g.name, candidates, c.name)
				m := someMatrix(t, c, g, stattest.Options{})
				if m == nil {
					continue
				}
				if err := m.Check(true); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				checked++
			}
		}
		if asked == 0 {
			t.Error("nothing was told beforehand")
		}
	}
	for seed := range uint64(80) {
		if !testmode.Enabled() && seed%8 > 1 {
			continue
		}
		ingredients, total := 2+int(seed%2), 3
		var c *ruledCell
		wish := mcmc.Objective{Name: "batched", Weight: 2.5, Property: batched{newTreeProperty(ingredients, total), 2, func(xs []*mcmc.Composition) {
			for _, x := range xs {
				scorer := mcmc.RuleScorer(c.target.Space(), x)
				if scorer.Reset(); math.IsInf(scorer.LogScore(), -1) {
					t.Errorf("seed %d: %v is asked for, which rules forbid", seed, x)
				}
			}
		}}}
		if c = newRuledCell(t, seed, ingredients, total, wish); c == nil {
			continue
		}
		k, err := mcmc.NewBalancedMix(c.target, mcmc.MoveMix{Recall: float64(3 - ingredients), Refresh: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.law.Matrix(c.target, k, stattest.Options{})
		if err == nil {
			err = m.Check(true)
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if checked++; c.measured {
			measured++
		}
	}
	t.Logf("%d matrices, %d of measured rules", checked, measured)
	if checked < testmode.Pick(100, 60) || measured < testmode.Pick(4, 1) {
		t.Error("those are too few")
	}
}
