package mcmc_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
	"kir/rule"
)

// TestWholeUnderRules runs balanced under rules that most compositions break, on a
// property that hardly matters: what the rules leave of whole candidates is accepted,
// so warm-up has the mix make many of them, and those of recall keep the bounds.
func TestWholeUnderRules(t *testing.T) {
	const n, total = 10, 1000
	book, costs := make([]rule.Rule, 0, n+1), make([]float64, n)
	for i := range n {
		book = append(book, rule.Amount{Of: []int{i}, Min: 20 + 15*i, Max: 300 + 30*i})
		costs[i] = float64(i)
	}
	gently := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return 1 + float64(x.Amount(0))/1e4 })
	for name, rules := range map[string][]rule.Rule{
		"bounds":           book,
		"bounds and costs": append(book, rule.Limit{Factors: costs, Min: 0, Max: 3}),
	} {
		law := mcmc.Uniform(3, 6)
		space, err := mcmc.NewRuledSpace(context.Background(), rule.Set{Ingredients: n, Total: total, Rules: rules}, mcmc.CountingOptions{Law: law})
		if err != nil {
			t.Fatal(err)
		}
		target, err := mcmc.NewTarget(space, law, mcmc.Objective{Name: "y", Property: gently, Weight: 1})
		if err != nil {
			t.Fatal(err)
		}
		sampler, err := mcmc.NewSampler("balanced", target)
		if err != nil {
			t.Fatal(err)
		}
		var tally mcmc.Tally
		for index := range 4 {
			chain, err := sampler.NewChain(1, index)
			if err != nil {
				t.Fatal(err)
			}
			if err := chain.Warm(5000); err != nil {
				t.Fatal(err)
			}
			chain.EndWarmup()
			if err := chain.Advance(5000); err != nil {
				t.Fatal(err)
			}
			tally.Add(chain.Tally())
		}
		moves := tally.MovesNamed("line", "resize", "refresh", "recall")
		lines, refresh, recall := moves[0].Tried, moves[2], moves[3]
		if whole := refresh.Tried + recall.Tried; 4*whole < lines {
			t.Errorf("%s: %d whole candidates for %d lines", name, whole, lines)
		}
		t.Logf("%s: %+v", name, tally)
		if rate := float64(recall.Accepted) / float64(recall.Tried); rate < 0.15 {
			t.Errorf("%s: of recall's candidates %v are accepted", name, rate)
		}
	}
}

func TestMixErrors(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3))
	for _, m := range []mcmc.MoveMix{{}, {Line: -1}, {Resize: math.NaN()}, {Recall: 1, Refresh: math.Inf(1)}} {
		if _, err := mcmc.NewBalancedMix(target, m); err == nil || !strings.Contains(err.Error(), "balanced: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
