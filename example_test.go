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
	// Weak: do not rely on the model of taste (skill 0.22 ± 0.06).
	// 0.990: 45.5 % Champagne, 29.5 % Grapefruit juice, 14.6 % Raspberry syrup, 10.0 % Crème de cassis, 0.4 % Absinthe
	// 0.970: 46.0 % Champagne, 43.6 % Orange juice, 9.9 % Cognac, 0.5 % Absinthe
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
