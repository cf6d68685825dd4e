package count_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"kir/internal/constraint/count"
)

// How many recipes are there of at most 5 of 50 ingredients, in steps of a
// hundredth?
func ExampleNewUnconstrainedTable() {
	table, err := count.NewUnconstrainedTable(50, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 1; n <= 5; n++ {
		fmt.Println(n, table.Count(n))
	}
	// Output:
	// 1 50
	// 2 121275
	// 3 95079600
	// 4 36122324700
	// 5 7975809293760
}

// A hundred assets that are left out or take 2 to 20 hundredths, at most 20 of
// them at once.
func ExampleNew() {
	space := count.Space{Total: 100, Ingredients: make([]count.Ingredient, 100)}
	for i := range space.Ingredients {
		space.Ingredients[i] = count.Ingredient{Min: 2, Max: 20}
	}
	table, err := count.New(context.Background(), space, count.Options{MaxUsed: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.TotalCount())
	// Output:
	// 499323586091939421828102219725287268000
}

// source is math/rand as draws take it.
type source struct{ *rand.Rand }

func (s source) Intn(n int) int { return s.IntN(n) }

func (s source) Categorical(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := s.Float64() * sum
	return slices.IndexFunc(weights, func(w float64) bool { u -= w; return u < 0 })
}

// Sour drinks of one spirit, citrus and sugar, drawn uniformly from all there
// are. Slices are used again, so that draws allocate nothing.
func ExampleSampler_Draw() {
	names := []string{"gin", "rum", "lemon", "lime", "sugar"}
	space := count.Space{
		Total:       20, // of 5 % each
		Ingredients: []count.Ingredient{{}, {}, {}, {}, {Min: 1, Max: 4, Required: true}},
		Groups: []count.Group{
			{Members: []int{0, 1}, Used: &count.Range{Min: 1, Max: 1}, Total: &count.Range{Min: 8, Max: 12}},
			{Members: []int{2, 3}, Total: &count.Range{Min: 3, Max: 8}},
		},
	}
	ctx := context.Background()
	table, err := count.New(ctx, space, count.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("recipes of 3:", table.Count(3), "of 4:", table.Count(4))
	sampler, err := table.Sampler(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := source{rand.New(rand.NewPCG(1, 2))}
	var ingredients, amounts []int32
	for range 3 {
		ingredients, amounts, err = sampler.Draw(r, 3, ingredients[:0], amounts[:0])
		if err != nil {
			fmt.Println(err)
			return
		}
		var parts []string
		for t, i := range ingredients {
			parts = append(parts, fmt.Sprintf("%d %% %s", 5*amounts[t], names[i]))
		}
		fmt.Println(strings.Join(parts, ", "))
	}
	// Output:
	// recipes of 3: 56 of 4: 156
	// 15 % sugar, 55 % gin, 30 % lemon
	// 15 % sugar, 60 % rum, 25 % lemon
	// 20 % sugar, 60 % gin, 20 % lime
}
