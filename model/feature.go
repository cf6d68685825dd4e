package model

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"kir/internal/portable"
)

// A Feature is the quantity that a split tests, a whole number from 0 to 2³¹ − 1. It is the total
// amount of one or more ingredients, or whether any of them is present, or one of two descriptors.
// Descriptors carry over to ingredients that no row has:
//   - with Weights, Σ weight·amount: a mean of the attribute that the weights encode;
//   - with Over, the log-ratio of two totals of a and b units, log₂((a + ½)/(b + ½)), in quarters
//     from −64 to 64. The feature is the number of steps 2^(e/4), e = −64, …, 64, that the ratio
//     exceeds. Half a unit is added to each total, so that zeros have a ratio, too. A step is the
//     fraction round(2^(12+|e|/4))/2¹² or its inverse, and compared in whole numbers.
type Feature struct {
	Name string
	// Ingredients are the indices of the ingredients whose amounts are added.
	Ingredients []int32
	// Presence makes the feature 1 if the total is positive and 0 otherwise.
	Presence bool
	// Weights has one weight of at least 0 for each of Ingredients. Weight times total is at most
	// 2³¹ − 1.
	Weights []int32
	// Over are the ingredients of b, disjoint from Ingredients, which are those of a.
	Over []int32
}

// isDescriptor reports whether a feature is more than a total or its presence.
func (f *Feature) isDescriptor() bool { return f.Weights != nil || f.Over != nil }

// hasDescriptors reports whether any feature is a descriptor.
func hasDescriptors(features []Feature) bool {
	return slices.ContainsFunc(features, func(f Feature) bool { return f.isDescriptor() })
}

// value returns the feature at the dense composition x.
func (f *Feature) value(x []int32) int32 {
	sum := int32(0)
	for k, i := range f.Ingredients {
		if f.Weights != nil {
			sum += f.Weights[k] * x[i]
		} else {
			sum += x[i]
		}
	}
	below := int32(0)
	for _, i := range f.Over {
		below += x[i]
	}
	return f.fromSums(sum, below)
}

// fromSums returns the feature, given the sums over Ingredients and over Over.
func (f *Feature) fromSums(sum, below int32) int32 {
	switch {
	case f.Presence:
		return min(sum, 1)
	case f.Over != nil:
		return int32(sort.Search(ratioSteps, func(step int) bool { return !exceeds(sum, below, step) }))
	}
	return sum
}

// maxValue returns the largest value of the feature.
func (f *Feature) maxValue(total int) int {
	switch {
	case f.Presence:
		return 1
	case f.Over != nil:
		return ratioSteps
	case f.Weights != nil:
		return math.MaxInt32
	}
	return total
}

// ratioSteps is the number of steps of a log-ratio.
const ratioSteps = 129

// ratioStep returns a step as a fraction. Both of its sides are below 2²⁹.
func ratioStep(step int) (above, below int64) {
	e := float64(step - ratioSteps/2)
	above, below = int64(math.Round(portable.Exp2(12+float64(math.Abs(e)/4)))), 1<<12
	if e < 0 {
		return below, above
	}
	return above, below
}

// exceeds reports whether (a + ½)/(b + ½) is above a step.
func exceeds(a, b int32, step int) bool {
	above, below := ratioStep(step)
	return (2*int64(a)+1)*below > (2*int64(b)+1)*above
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

// plainFeatures reports whether feature i is the amount of ingredient i and has its name, for all
// i.
func plainFeatures(features []Feature, ingredients []string) bool {
	if len(features) != len(ingredients) {
		return false
	}
	for i, f := range features {
		if f.Presence || f.isDescriptor() || f.Name != ingredients[i] || len(f.Ingredients) != 1 || f.Ingredients[0] != int32(i) {
			return false
		}
	}
	return true
}

// checkFeatures returns an error if a feature has no name or a duplicate one, if its ingredients
// are missing, duplicate or out of range, or if it mixes several kinds.
func checkFeatures(features []Feature, ingredients, total int) error {
	seen := make(map[string]int, len(features))
	for i, f := range features {
		if f.Name == "" {
			return fmt.Errorf("feature %d has no name", i)
		}
		if first, doubled := seen[f.Name]; doubled {
			return fmt.Errorf("features %d and %d are both named %q", first, i, f.Name)
		}
		seen[f.Name] = i
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("feature %d (%q)"+format, append([]any{i, f.Name}, args...)...)
		}
		if len(f.Ingredients) == 0 {
			return wrong(" has no ingredients")
		}
		sorted := slices.Sorted(slices.Values(slices.Concat(f.Ingredients, f.Over)))
		for k, ingredient := range sorted {
			if ingredient < 0 || int(ingredient) >= ingredients {
				return wrong(": ingredient %d is out of range, there are %d", ingredient, ingredients)
			}
			if k > 0 && ingredient == sorted[k-1] {
				return wrong(": ingredient %d is given twice", ingredient)
			}
		}
		switch {
		case f.Presence && f.isDescriptor(), f.Weights != nil && f.Over != nil:
			return wrong(" is of several kinds: presence, weights and over exclude each other")
		case f.Over != nil && len(f.Over) == 0:
			return wrong(" is over no ingredients")
		case f.Weights != nil && len(f.Weights) != len(f.Ingredients):
			return wrong(" has %d weights for %d ingredients", len(f.Weights), len(f.Ingredients))
		}
		for _, w := range f.Weights {
			if w < 0 || int64(w)*int64(total) > math.MaxInt32 {
				return wrong(": a weight is %d and must be in 0..%d", w, math.MaxInt32/total)
			}
		}
	}
	return nil
}

// An Importance is the permutation importance of a feature (Breiman 2001, section 10): the mean
// over the trees, with its standard error, of the rise in their error on the rows that they have
// not seen. The feature's values are permuted among those rows, so that they carry no information.
// For classes it is the loss of accuracy, in 0..1 or a little below zero. For numbers it is the
// rise of the mean squared error, divided by the variance of the labels.
type Importance struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}
