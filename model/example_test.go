package model_test

import (
	"context"
	"fmt"
	"log"

	"kir/model"
)

// drinks are eight recipes of ten parts, and how they taste.
func drinks() *model.Data {
	return &model.Data{
		Label:       "taste",
		Ingredients: []string{"gin", "lime juice", "vermouth", "syrup"},
		Total:       10,
		Rows: [][]model.Part{
			{{Ingredient: 0, Amount: 7}, {Ingredient: 1, Amount: 3}},
			{{Ingredient: 0, Amount: 6}, {Ingredient: 1, Amount: 4}},
			{{Ingredient: 0, Amount: 5}, {Ingredient: 1, Amount: 3}, {Ingredient: 3, Amount: 2}},
			{{Ingredient: 1, Amount: 5}, {Ingredient: 2, Amount: 5}},
			{{Ingredient: 0, Amount: 8}, {Ingredient: 2, Amount: 2}},
			{{Ingredient: 0, Amount: 5}, {Ingredient: 2, Amount: 5}},
			{{Ingredient: 2, Amount: 9}, {Ingredient: 3, Amount: 1}},
			{{Ingredient: 0, Amount: 9}, {Ingredient: 3, Amount: 1}},
		},
		Classes: []string{"fresh", "fresh", "fresh", "fresh", "boozy", "boozy", "boozy", "boozy"},
	}
}

func Example() {
	f, err := model.Grow(context.Background(), drinks(), model.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("out-of-bag accuracy:", f.Quality().Classes.Accuracy)
	fresh, err := f.Score(model.AnyOf("fresh"))
	if err != nil {
		log.Fatal(err)
	}
	x := []int32{6, 1, 3, 0}
	fmt.Printf("fresh with probability %.2f\n", fresh.Probability(fresh.Point(x)))
	// Output:
	// out-of-bag accuracy: 1
	// fresh with probability 0.38
}

// A line: all ways to share out what is there of gin and lime juice.
func ExampleScorer_Line() {
	f, err := model.Grow(context.Background(), drinks(), model.Options{Seed: 1, Trees: 10})
	if err != nil {
		log.Fatal(err)
	}
	fresh, err := f.Score(model.AnyOf("fresh"))
	if err != nil {
		log.Fatal(err)
	}
	const gin, lime = 0, 1
	scorer := fresh.NewScorer()
	scorer.Reset([]int32{6, 1, 3, 0}, []int32{gin, lime, 2})
	starts, sums := scorer.Line(gin, lime)
	for p, start := range starts {
		fmt.Printf("from %d parts of gin on: %.2f\n", start, fresh.Probability(sums[p]))
	}
	// Output:
	// from 0 parts of gin on: 0.90
	// from 4 parts of gin on: 0.80
	// from 5 parts of gin on: 0.70
	// from 6 parts of gin on: 0.50
	// from 7 parts of gin on: 0.10
}
