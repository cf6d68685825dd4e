package search_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"kir/internal/search"
	"kir/mcmc"
)

// The best ways to divide ten parts, and one that is another idea.
func Example() {
	space, err := mcmc.NewSpace(4, 10)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"gin", "lime", "vermouth", "syrup"}
	sour := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		gimlet := math.Abs(float64(x.Amount(0)-7)) + math.Abs(float64(x.Amount(1)-2))
		martini := math.Abs(float64(x.Amount(0)-8)) + math.Abs(float64(x.Amount(2)-2))
		return math.Exp(-gimlet) + 0.5*math.Exp(-martini)
	})
	target, err := mcmc.NewTarget(space, mcmc.Uniform(2, 3), mcmc.Objective{Name: "classic", Property: sour, Weight: 1})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	distance := search.NewDistance(space.N(), nil)
	found, err := search.Best(ctx, target, search.Options{Evaluations: 2000, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	list, err := search.Shortlist(ctx, target, found.Archive.Best(), search.ListOptions{MaxEntries: 2, Distance: distance, MinDistance: 0.3})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range list.Entries {
		fmt.Printf("%.2f:", math.Exp(e.LogScore))
		for _, p := range e.Parts {
			fmt.Printf(" %d %s", p.Amount, names[p.Ingredient])
		}
		fmt.Println()
	}
	// Output:
	// 1.07: 7 gin 2 lime 1 vermouth
	// 0.55: 8 gin 2 vermouth
}
