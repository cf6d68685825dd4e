package property_test

import (
	"context"
	"fmt"
	"log"

	"kir/mcmc"
)

// A property of one's own is a function of the composition. This one likes
// recipes in which no ingredient dominates: 1 − Σ (x_i/M)², Simpson's index.
func Example() {
	diverse := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		y, total := 1.0, float64(x.Total())
		for _, i := range x.Ingredients() {
			share := float64(x.Amount(int(i))) / total
			y -= share * share
		}
		return y
	})
	space, err := mcmc.NewSpace(20, 100) // ingredients, units
	if err != nil {
		log.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 5), mcmc.Objective{Name: "diverse", Property: diverse, Weight: 30})
	if err != nil {
		log.Fatal(err)
	}
	mean, options := 0.0, mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 1000, Draws: 10_000, Thin: 1, Seed: 1}
	sampler, err := options.Sampler(target)
	if err != nil {
		log.Fatal(err)
	}
	_, err = mcmc.Stream(context.Background(), sampler, options, 0, func(_, _ int, x *mcmc.State) error {
		mean += x.AppendScores(nil)[0] / 10_000
		return nil
	})
	fmt.Printf("mean score %.1f, error %v\n", mean, err)
	// Output: mean score 0.8, error <nil>
}
