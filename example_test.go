package kir_test

import (
	"context"
	"fmt"
	"log"

	"kir"
	"kir/mcmc"
	"kir/rule"
)

// The shortlist of a problem file. Few draws are enough to show it.
func Example() {
	ctx := context.Background()
	p, err := kir.Load(ctx, "examples/cocktails/problem.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	p.Settings.Draws = 1000
	result, err := p.Sample(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Headline)
	for _, r := range result.Shortlist[:2] {
		fmt.Println(r)
	}
	// Output:
	// Fair: the models of taste and timing tell good from bad, and are often off.
	// 0.794: 46.8 % Champagne, 29.1 % Orange juice, 13.5 % Grapefruit juice, 10.0 % Crème de cassis, 0.6 % Absinthe
	// 0.794: 46.0 % Orange juice, 40.0 % Amaro Montenegro, 10.0 % Crème de cassis, 3.4 % Grenadine, 0.6 % Absinthe
}

// A target that the program builds: three to four of six ingredients, at least two fifths
// spirits, and a score of one's own.
func ExampleNew() {
	ctx := context.Background()
	names := []string{"gin", "rum", "vermouth", "lime", "syrup", "egg white"}
	set := rule.Set{Ingredients: len(names), Total: 20, Used: []int{3, 4}, Rules: []rule.Rule{
		rule.Require{Of: []int{3}},
		rule.Group{Of: []int{0, 1}, Total: &rule.Range{Min: 8, Max: 20}},
	}}
	space, err := mcmc.NewRuledSpace(ctx, set, mcmc.Counting{})
	if err != nil {
		log.Fatal(err)
	}
	sour := mcmc.ScoreFunc(func(x *mcmc.Composition) float64 {
		lime, sweet := float64(x.Amount(3)), float64(x.Amount(2)+x.Amount(4))
		return 1 / (1 + (lime-sweet/2)*(lime-sweet/2))
	})
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 4), mcmc.Wish{Name: "sour", Property: sour, Weight: 1})
	if err != nil {
		log.Fatal(err)
	}
	p, err := kir.New("sours", target, names...)
	if err != nil {
		log.Fatal(err)
	}
	p.Settings.Draws = 2000
	result, err := p.Sample(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Shortlist[0])
	fmt.Printf("rum in %.2f ± %.2f of the draws\n", result.Inclusion["rum"].Mean, result.Inclusion["rum"].MCSE)
	// Output:
	// 1.000: 40.0 % vermouth, 35.0 % rum, 20.0 % lime, 5.0 % gin
	// rum in 0.69 ± 0.01 of the draws
}
