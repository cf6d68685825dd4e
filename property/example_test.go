package property_test

import (
	"context"
	"fmt"
	"log"

	"kir"
)

// A property of one's own is a function of the composition. This one likes
// recipes in which no ingredient dominates: 1 − Σ (x_i/M)², Simpson's index.
func Example() {
	diverse := kir.ScoreFunc(func(x *kir.Composition) float64 {
		y, total := 1.0, float64(x.Total())
		for _, i := range x.Ingredients() {
			share := float64(x.Amount(int(i))) / total
			y -= share * share
		}
		return y
	})
	space, err := kir.NewSpace(20, 100) // ingredients, units
	if err != nil {
		log.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(2, 5), kir.Wish{Name: "diverse", Property: diverse, Weight: 30})
	if err != nil {
		log.Fatal(err)
	}
	mean, options := 0.0, kir.Settings{Kernel: "balanced", Chains: 1, Warmup: 1000, Draws: 10_000, Thin: 1, Seed: 1}
	sampler, err := options.Sampler(target)
	if err != nil {
		log.Fatal(err)
	}
	_, err = kir.Stream(context.Background(), sampler, options, 0, func(_, _ int, x *kir.State) error {
		mean += x.AppendScores(nil)[0] / 10_000
		return nil
	})
	fmt.Printf("mean score %.1f, error %v\n", mean, err)
	// Output: mean score 0.8, error <nil>
}
