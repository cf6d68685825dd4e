package rule_test

import (
	"context"
	"fmt"
	"math"

	"kir/rule"
)

// Six ingredients that are all required cannot keep these least amounts.
func ExampleSet_Explain() {
	set := rule.Set{Ingredients: 6, Total: 100}
	set.Rules = append(set.Rules, rule.Require{Of: []int{0, 1, 2, 3, 4, 5}})
	for i, least := range []int{22, 29, 24, 29, 17, 13} {
		set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: least})
	}
	conflict, err := set.Explain(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(conflict.Cause)
	for _, change := range conflict.Changes {
		fmt.Println("-", change.Text)
	}
	fmt.Println("a smallest conflict: rules", conflict.Rules)
	// Output:
	// the least amounts of the 6 required ingredients sum to 134 of a total of 100 (134 %)
	// - lower them by 34 in all (34 % of the total)
	// - do not require ingredient 1 and ingredient 3
	// a smallest conflict: rules [0 1 2 3 4]
}

// A drink of gin that is to be weak, in steps of a twentieth: rules of several
// kinds, why they conflict, and the first way out taken.
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
	conflict, err := set.Explain(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range conflict.Rules {
		fmt.Println(set.Words(k))
	}
	for _, change := range conflict.Changes {
		fmt.Println("-", change.Text)
	}
	set = conflict.Changes[0].Apply(set)
	conflict, err = set.Explain(context.Background())
	fmt.Println("and then:", conflict, err)
	conditions, err := set.Conditions()
	if err != nil {
		fmt.Println(err)
		return
	}
	drink := []rule.Part{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 6}, {Ingredient: 3, Amount: 9}}
	fmt.Println("kept:", conditions.Keeps(drink))
	for _, r := range set.Rules {
		for _, s := range rule.Slacks(r, drink, set.Total) {
			fmt.Printf("%v %s, %.3g to spare\n", s.Value, s.Unit, s.Room())
		}
	}
	// Output:
	// require gin
	// amount of gin min 8
	// limit of abv max 15
	// - lower the min of "amount of gin min 8" from 8 to 5
	// - raise the max of "limit of abv max 15" from 15 to 20.8
	// - do not require gin
	// and then: <nil> <nil>
	// kept: true
	// 1 ingredients, 0 to spare
	// 5 units, 0 to spare
	// 6 units, 0 to spare
	// 14.8 abv, 0.2 to spare
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
	conditions, err := set.Conditions()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, units := range [][]int{{55, 18, 20, 5, 2, 0}, {70, 3, 20, 5, 2, 0}, {70, 2, 20, 5, 2, 1}, {55, 14, 15, 14, 2, 0}, {55, 25, 15, 0, 5, 0}} {
		var parts []rule.Part
		for i, a := range units {
			if a > 0 {
				parts = append(parts, rule.Part{Ingredient: i, Amount: a})
			}
		}
		fmt.Println(units, conditions.Keeps(parts))
	}
	for k := range set.Rules {
		fmt.Println(set.Words(k))
	}
	// Output:
	// [55 18 20 5 2 0] true
	// [70 3 20 5 2 0] false
	// [70 2 20 5 2 1] true
	// [55 14 15 14 2 0] false
	// [55 25 15 0 5 0] false
	// ratio of emulsifier to plain oil, fine oil min 0.05 max 0.1
	// limit of cost in plain oil, fine oil max 12
	// if thickener unused then amount of water max 60
}

// Drinks near a Negroni, of gin, campari, vermouth, aperol and soda: one for another,
// and no more than 3 of 9 units in other hands.
func ExampleNear() {
	negroni := []rule.Part{{Ingredient: 0, Amount: 3}, {Ingredient: 1, Amount: 3}, {Ingredient: 2, Amount: 3}}
	set := rule.Set{Ingredients: 5, Total: 9, Rules: []rule.Rule{rule.Near{Name: "Negroni", Recipe: negroni, Changes: 2, Distance: 3}}}
	conditions, err := set.Conditions()
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; n <= 5; n++ {
		kept, _, _ := conditions.Kept(context.Background(), n)
		fmt.Println(n, kept)
	}
	// Output:
	// 1 0
	// 2 12
	// 3 61
	// 4 74
	// 5 26
}
