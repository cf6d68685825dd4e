package recipemap

import (
	"math"
	"slices"
	"testing"

	"kir/mcmc"
)

// recipe returns a recipe of the given amounts of ingredients 0, 1, ...
func recipe(amounts ...int) (parts []mcmc.Part) {
	for i, v := range amounts {
		if v > 0 {
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: v})
		}
	}
	return parts
}

// TestPlace checks that recipes which differ in two ingredients alone lie on one axis, that a
// recipe with the amounts of a draw lies on the draw, and that the ends name the ingredients.
func TestPlace(t *testing.T) {
	recipes := [][]mcmc.Part{recipe(80, 10, 10), recipe(40, 40, 20), recipe(10, 80, 10), recipe(20, 60, 20), recipe(60, 20, 20), recipe(40, 40, 20)}
	axes, at := Place(recipes, 5, 3)
	if axes == nil || len(at) != 6 {
		t.Fatalf("%v, %v", axes, at)
	}
	if at[5] != at[1] {
		t.Errorf("a recipe with the amounts of a draw is at %v, the draw at %v", at[5], at[1])
	}
	if math.Abs(axes.ExplainedVariance-1) > 1e-12 {
		t.Errorf("two axes explain %v of what differs in two dimensions", axes.ExplainedVariance)
	}
	lower, upper := axes.ExtremeIngredients(0, false), axes.ExtremeIngredients(0, true)
	if !slices.Contains(upper, 0) || !slices.Contains(lower, 1) {
		if !slices.Contains(upper, 1) || !slices.Contains(lower, 0) {
			t.Errorf("the first axis runs from %v to %v, want from one of the first two ingredients to the other", lower, upper)
		}
	}
	if (at[0][0] > at[2][0]) != slices.Contains(upper, 0) {
		t.Errorf("the recipe of much of ingredient 0 is at %v, that of little at %v, and the upper end is %v", at[0][0], at[2][0], upper)
	}
	for name, alike := range map[string][][]mcmc.Part{"none": nil, "two ingredients": {recipe(1, 2), recipe(2, 1)}, "equal recipes": {recipe(1, 2, 3), recipe(1, 2, 3)}} {
		if axes, _ := Place(alike, len(alike), 3); axes != nil {
			t.Errorf("%s: there are axes", name)
		}
	}
}

// TestPlaceMany checks how many ingredients the axes use: all that the draws use, and the most
// varying if there are too many.
func TestPlaceMany(t *testing.T) {
	var recipes [][]mcmc.Part
	for k := range 400 {
		var parts []mcmc.Part
		for _, i := range []int{k % 2, 2 + k%67, 70 + k%9} { // the smaller i, the more recipes have it
			parts = append(parts, mcmc.Part{Ingredient: i, Amount: 10 + i%3})
		}
		recipes = append(recipes, parts)
	}
	axes, at := Place(recipes, 400, 5010)
	if len(at) != 400 || len(axes.ingredientIndices) != 78 || !(axes.ExplainedVariance > 0 && axes.ExplainedVariance < 1) {
		t.Errorf("%d recipes, of %d ingredients, %v is explained", len(at), len(axes.ingredientIndices), axes.ExplainedVariance)
	}
	for k := range 60 {
		recipes = append(recipes, []mcmc.Part{{Ingredient: 200 + k, Amount: 40}})
	}
	if axes, _ := Place(recipes, len(recipes), 5010); len(axes.ingredientIndices) != maxMapIngredients || !slices.Contains(axes.ingredientIndices, 1) {
		t.Errorf("the axes use %v", axes.ingredientIndices)
	}
}
