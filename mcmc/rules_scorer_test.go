package mcmc_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"kir/internal/constraint/count"
	"kir/internal/testonly/stattest"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// ruledSpace returns a space with rules for the amounts of each ingredient.
func ruledSpace(t *testing.T, total int, amounts ...count.Ingredient) *mcmc.Space {
	t.Helper()
	set := rule.Set{Ingredients: len(amounts), Total: total}
	for i, a := range amounts {
		of := []int{i}
		set.Rules = append(set.Rules, rule.Amount{Of: of, Min: a.Min, Max: a.Max, Step: a.Step})
		if a.Required {
			set.Rules = append(set.Rules, rule.Require{Of: of})
		}
		if a.Excluded {
			set.Rules = append(set.Rules, rule.Exclude{Of: of})
		}
	}
	space, err := mcmc.NewRuledSpace(context.Background(), set, mcmc.CountingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// An ingredient with 1, 3, 5, … units; every composition is reached as often as
// the others of its size.
func TestStepFromOne(t *testing.T) {
	target, err := mcmc.NewTarget(ruledSpace(t, 9, count.Ingredient{Min: 1, Step: 2}, count.Ingredient{}, count.Ingredient{}), mcmc.Uniform(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	e, err := stattest.Law{Ingredients: 3, Total: 9, Size: func(int) float64 { return 1 }, Feasible: func(x []int) bool { return x[0] == 0 || x[0]%2 == 1 }}.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{"accelerated", "gibbs", "naive", "exact", "balanced's line"} {
		k, err := mcmc.NewKernel(kernel, target)
		if kernel == "balanced's line" {
			k, err = mcmc.NewBalancedMix(target, mcmc.MoveMix{Line: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Matrix(target, k, stattest.Options{})
		if err == nil {
			err = m.Check(true)
		}
		if err != nil {
			t.Errorf("%s: %v", kernel, err)
		}
	}
	for _, kernel := range []string{"balanced", "tempered"} {
		if err := settled(t, kernel, target, 1, 500).Advance(2000); err != nil {
			t.Errorf("%s: %v", kernel, err)
		}
	}
}

// TestRuleLines holds the splits that a line leaves against the rules at each
// point, along random walks, also through compositions that break rules.
func TestRuleLines(t *testing.T) {
	t.Parallel()
	seeds := uint64(1500)
	if testmode.RaceDetector {
		seeds = 150 // rules that few compositions keep take long to measure
	}
	for seed := range seeds {
		const ingredients, total = 5, 9
		r := rand.New(rand.NewPCG(seed, 2))
		rules, feasible := randomRules(r, ingredients, total)
		// Only the rules are of interest here: one size is counted.
		space, err := mcmc.NewRuledSpace(context.Background(), rules, mcmc.CountingOptions{Law: mcmc.Uniform(1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := mcmc.NewComposition(ingredients, mcmc.Part{Ingredient: 0, Amount: 4}, mcmc.Part{Ingredient: 3, Amount: 5})
		if err != nil {
			t.Fatal(err)
		}
		scorer := mcmc.RuleScorer(space, x)
		scorer.Reset()
		var p mcmc.PiecewiseConstant
		for range 60 {
			i, j := r.IntN(ingredients), r.IntN(ingredients-1)
			if j >= i {
				j++
			}
			p.Reset()
			scorer.Line(i, j, &p)
			was, sum := x.Amount(i), x.Amount(i)+x.Amount(j)
			to, after := r.IntN(sum+1), 0.0
			for k := range sum + 1 {
				if err := x.Move(i, j, k); err != nil {
					t.Fatal(err)
				}
				amounts := make([]int, ingredients)
				for q, a := range x.Amounts() {
					amounts[q] = int(a)
				}
				want := 0.0
				if !feasible(amounts) {
					want = math.Inf(-1)
				}
				got := math.NaN()
				for q := range p.Len() {
					if start, value := p.Piece(q); start <= k {
						got = value
					}
				}
				if err := x.Move(i, j, was); err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Fatalf("seed %d: at %v, splitting %d as (%d, %d) between %d and %d: line %v, want %v; rules %+v", seed, x, sum, k, sum-k, i, j, got, want, rules)
				}
				if k == to {
					after = want
				}
			}
			if err := x.Move(i, j, to); err != nil {
				t.Fatal(err)
			}
			scorer.Moved(i, j)
			if got := scorer.LogScore(); got != after {
				t.Fatalf("seed %d: moved to %v the rules say %v, want %v; rules %+v", seed, x, got, after, rules)
			}
		}
	}
}
