package mcmc_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"kir/mcmc"
	"kir/rule"
)

// chainTargets are targets of every kind that a chain can be of.
func chainTargets(t *testing.T) map[string]*mcmc.Target {
	t.Helper()
	sum := wish("sum", 1.3, func(x *mcmc.Composition) float64 { // in the order of the ingredients used
		y := 0.0
		for _, i := range x.Ingredients() {
			y += 1 / (0.3 + float64(i)*float64(x.Amount(int(i))))
		}
		return y
	})
	ruled, err := mcmc.NewRuledSpace(context.Background(), rule.Set{Ingredients: 12, Total: 30, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 1}}, rule.Group{Of: []int{2, 3}, Used: &rule.Range{Min: 0, Max: 1}},
	}}, mcmc.CountingOptions{Law: mcmc.Uniform(1, 6)})
	if err != nil {
		t.Fatal(err)
	}
	tree := mcmc.Objective{Name: "tree", Property: newTreeProperty(12, 30), Weight: 1}
	under, err := mcmc.NewTarget(ruled, mcmc.Uniform(1, 6), tree)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*mcmc.Target{
		"bare":   newTarget(t, 12, 30, mcmc.Uniform(1, 6)),
		"scored": newTarget(t, 12, 30, mcmc.Uniform(1, 6), tree, sum),
		"ruled":  under,
	}
}

// trace advances a chain and returns all there is to see on the way.
func trace(t *testing.T, c *mcmc.Chain, steps int) string {
	t.Helper()
	var b strings.Builder
	for range steps {
		if err := c.Advance(3); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, c.State.Composition, math.Float64bits(c.State.LogDensity()), c.State.AppendScores(nil))
	}
	fmt.Fprintf(&b, "%+v %d", c.Tally(), c.StartDraws)
	return b.String()
}
