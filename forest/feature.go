package forest

import (
	"fmt"
	"slices"
)

// A Feature is what a split tests: the total amount of one or more ingredients,
// or whether any of them is present.
type Feature struct {
	Name string
	// Ingredients are the indices of the ingredients whose amounts are added.
	Ingredients []int32
	// Presence makes the feature 1 if the total is positive and 0 otherwise.
	Presence bool
}

// amountFeatures returns the plain features: the amount of each ingredient.
func amountFeatures(ingredients []string) []Feature {
	features := make([]Feature, len(ingredients))
	index := make([]int32, len(ingredients))
	for i, name := range ingredients {
		index[i] = int32(i)
		features[i] = Feature{Name: name, Ingredients: index[i : i+1 : i+1]}
	}
	return features
}

// plainFeatures reports whether feature i is the amount of ingredient i and
// bears its name, for all i.
func plainFeatures(features []Feature, ingredients []string) bool {
	if len(features) != len(ingredients) {
		return false
	}
	for i, f := range features {
		if f.Presence || f.Name != ingredients[i] || len(f.Ingredients) != 1 || f.Ingredients[0] != int32(i) {
			return false
		}
	}
	return true
}

// checkFeatures returns an error if a feature has no name or a doubled one, or
// if its ingredients are none, doubled or out of range.
func checkFeatures(features []Feature, ingredients int) error {
	seen := make(map[string]int, len(features))
	for i, f := range features {
		if f.Name == "" {
			return fmt.Errorf("feature %d has no name", i)
		}
		if first, doubled := seen[f.Name]; doubled {
			return fmt.Errorf("features %d and %d are both named %q", first, i, f.Name)
		}
		seen[f.Name] = i
		if len(f.Ingredients) == 0 {
			return fmt.Errorf("feature %d (%q) has no ingredients", i, f.Name)
		}
		sorted := slices.Sorted(slices.Values(f.Ingredients))
		for k, ingredient := range sorted {
			if ingredient < 0 || int(ingredient) >= ingredients {
				return fmt.Errorf("feature %d (%q): ingredient %d is out of range, there are %d",
					i, f.Name, ingredient, ingredients)
			}
			if k > 0 && ingredient == sorted[k-1] {
				return fmt.Errorf("feature %d (%q): ingredient %d is given twice", i, f.Name, ingredient)
			}
		}
	}
	return nil
}

// An Importance is how much worse the trees predict the rows that they have not
// seen once the values of one feature are permuted among those rows (Breiman
// 2001, section 10), so that they say nothing any more: the mean over the trees
// and its standard error. For classes it is the loss of accuracy, in 0..1 or a
// little below zero; for numbers the rise of the mean squared error, divided by
// the variance of the labels.
type Importance struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}
