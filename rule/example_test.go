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
