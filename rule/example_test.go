package rule_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"kir"
	"kir/mcmc"
	"kir/rule"
)

// A drink of gin that is to be weak, in steps of a twentieth: rules of several
// kinds that conflict, and what would free them.
func Example() {
	names := []string{"gin", "vermouth", "campari", "lemon", "egg white"}
	strength := []float64{40, 16, 25, 0, 0}
	set := rule.Set{
		Ingredients: len(names), Total: 20, Used: []int{2, 3, 4},
		Name: func(i int) string { return names[i] },
		Rules: []rule.Rule{
			rule.Require{Of: []int{0}},
			rule.Amount{Of: []int{0}, Min: 8},
			rule.Need{If: 4, Then: []int{3}},
			rule.Group{Of: []int{1, 2}, Total: &rule.Range{Min: 6, Max: 12}},
			rule.Limit{Attribute: "abv", Factors: strength, Min: math.Inf(-1), Max: 15},
		},
	}
	for k := range set.Rules {
		fmt.Println(set.Describe(k))
	}
	fmt.Println(kir.Check(context.Background(), set))
	set.Rules[1] = rule.Amount{Of: []int{0}, Min: 5}
	fmt.Println(kir.Check(context.Background(), set))
	// Output:
	// require gin
	// amount of gin min 8
	// egg white needs lemon
	// group vermouth, campari total 6 to 12
	// limit of abv max 15
	// no recipe of 20 units meets "require gin", "amount of gin min 8" and "limit of abv max 15" together: lower the min of "amount of gin min 8" from 8 to 5, raise the max of "limit of abv max 15" from 15 to 20.8 or do not require gin
	// <nil>
}

// A lotion of water, oil and emulsifier: emulsifier by the oil, the
// mean cost of the oils alone, and what stands behind a condition.
func ExampleIf() {
	names := []string{"water", "glycerin", "plain oil", "fine oil", "emulsifier", "thickener"}
	set := rule.Set{
		Ingredients: len(names), Total: 100,
		Name: func(i int) string { return names[i] },
		Rules: []rule.Rule{
			rule.Ratio{Of: []int{4}, To: []int{2, 3}, Min: 0.05, Max: 0.1},
			rule.Limit{Attribute: "cost", Factors: []float64{0, 2, 5, 30, 12, 9}, Of: []int{2, 3}, Min: math.Inf(-1), Max: 12},
			rule.If{Unused: []int{5}, Then: rule.Amount{Of: []int{0}, Max: 60}},
		},
	}
	ctx := context.Background()
	space, err := mcmc.NewRuledSpace(ctx, set, mcmc.CountingOptions{})
	if err != nil {
		log.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(3, 6))
	if err != nil {
		log.Fatal(err)
	}
	for _, units := range [][]int{{55, 18, 20, 5, 2, 0}, {70, 3, 20, 5, 2, 0}, {70, 2, 20, 5, 2, 1}, {55, 14, 15, 14, 2, 0}, {55, 25, 15, 0, 5, 0}} {
		var parts []rule.Part
		for i, a := range units {
			if a > 0 {
				parts = append(parts, rule.Part{Ingredient: i, Amount: a})
			}
		}
		lotion, err := mcmc.NewComposition(len(names), parts...)
		if err != nil {
			log.Fatal(err)
		}
		score, err := target.LogScore(lotion) // −Inf where a rule is broken
		fmt.Println(units, score == 0, err)
	}
	for k := range set.Rules {
		fmt.Println(set.Describe(k))
	}
	// Output:
	// [55 18 20 5 2 0] true <nil>
	// [70 3 20 5 2 0] false <nil>
	// [70 2 20 5 2 1] true <nil>
	// [55 14 15 14 2 0] false <nil>
	// [55 25 15 0 5 0] false <nil>
	// ratio of emulsifier to plain oil, fine oil min 0.05 max 0.1
	// limit of cost in plain oil, fine oil max 12
	// if thickener unused then amount of water max 60
}

// Drinks near a Negroni, of gin, campari, vermouth, aperol and soda: one for another,
// and no more than 3 of 9 units in other hands.
func ExampleNear() {
	negroni := []rule.Part{{Ingredient: 0, Amount: 3}, {Ingredient: 1, Amount: 3}, {Ingredient: 2, Amount: 3}}
	set := rule.Set{Ingredients: 5, Total: 9, Rules: []rule.Rule{rule.Near{Name: "Negroni", Recipe: negroni, Changes: new(2), Distance: new(3)}}}
	space, err := mcmc.NewRuledSpace(context.Background(), set, mcmc.CountingOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for n, count := range space.LogCounts(5)[1:] {
		fmt.Printf("%d %.0f\n", n+1, math.Exp(count))
	}
	// Output:
	// 1 0
	// 2 12
	// 3 61
	// 4 74
	// 5 26
}
