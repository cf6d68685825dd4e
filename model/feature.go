package model

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"kir/internal/portable"
)

// A Feature is a quantity of a composition that a test of a tree compares with a threshold. Its
// value is a whole number from 0 to 2³¹ − 1. There are four kinds:
//   - the total amount of one or more ingredients,
//   - if Presence is set: the presence of any of these ingredients,
//   - if Weights is set: a weighted total Σ weight·amount, which encodes the mean of an attribute
//     of the ingredients,
//   - if Over is set: a log-ratio of two totals.
//
// The last two kinds are called descriptors. With descriptors, a forest can also predict for
// ingredients that no row has.
//
// A log-ratio is log₂((a + ½)/(b + ½)), where a is the total of Ingredients and b is the total of
// Over. The halves keep it finite for totals of zero. The value of the feature is a number of
// steps: it counts the steps 2^(e/4), e = −64, …, 64, that the ratio (a + ½)/(b + ½) exceeds. Each
// step is a fraction of whole numbers, round(2^(12+|e|/4))/2¹² or its inverse.
type Feature struct {
	Name string
	// Ingredients are the indices of the ingredients whose amounts are added.
	Ingredients []int32
	// Presence makes the value 1 if the total is positive and 0 otherwise.
	Presence bool
	// Weights has one weight of at least 0 for each element of Ingredients. Each weight times the
	// total of a composition is at most 2³¹ − 1.
	Weights []int32
	// Over are the indices of the ingredients in the denominator of a log-ratio, whose total is b.
	// Ingredients are then those of the numerator, whose total is a. No ingredient is in both.
	Over []int32
}

// isDescriptor reports whether the feature is a weighted mean or a log-ratio, rather than a total
// or a presence.
func (f *Feature) isDescriptor() bool { return f.Weights != nil || f.Over != nil }

// hasDescriptors reports whether any feature is a descriptor.
func hasDescriptors(features []Feature) bool {
	return slices.ContainsFunc(features, func(f Feature) bool { return f.isDescriptor() })
}

// value returns the value of the feature for the dense composition x.
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
	return f.valueFromSums(sum, below)
}

// valueFromSums returns the value of the feature, given sums of amounts. The parameter sum is the
// sum over Ingredients, with their weights. The parameter below is the sum over Over.
func (f *Feature) valueFromSums(sum, below int32) int32 {
	switch {
	case f.Presence:
		return min(sum, 1)
	case f.Over != nil:
		return int32(sort.Search(ratioStepCount, func(step int) bool { return !ratioExceedsStep(sum, below, step) }))
	}
	return sum
}

// maxValue returns an upper bound of the value of the feature in compositions whose amounts sum to
// total.
func (f *Feature) maxValue(total int) int {
	switch {
	case f.Presence:
		return 1
	case f.Over != nil:
		return ratioStepCount
	case f.Weights != nil:
		return math.MaxInt32
	}
	return total
}

// ratioStepCount is the number of steps of a log-ratio feature, and therefore the greatest value of
// the feature: see [Feature].
const ratioStepCount = 129

// ratioStepFraction returns the ratio of the log-ratio step with the given index as a fraction
// above/below. Both numbers are below 2²⁹.
func ratioStepFraction(step int) (above, below int64) {
	e := float64(step - ratioStepCount/2)
	above, below = int64(math.Round(portable.Exp2(12+float64(math.Abs(e)/4)))), 1<<12
	if e < 0 {
		return below, above
	}
	return above, below
}

// ratioExceedsStep reports whether the ratio (a + ½)/(b + ½) is greater than the ratio of the step
// with the given index. For steps see [Feature].
func ratioExceedsStep(a, b int32, step int) bool {
	above, below := ratioStepFraction(step)
	return (2*int64(a)+1)*below > (2*int64(b)+1)*above
}

// amountFeatures returns the default features: the amount of each ingredient, named like the
// ingredient.
func amountFeatures(ingredients []string) []Feature {
	features := make([]Feature, len(ingredients))
	index := make([]int32, len(ingredients))
	for i, name := range ingredients {
		index[i] = int32(i)
		features[i] = Feature{Name: name, Ingredients: index[i : i+1 : i+1]}
	}
	return features
}

// areAmountFeatures reports whether the features are those that [amountFeatures] returns.
func areAmountFeatures(features []Feature, ingredients []string) bool {
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

// checkFeatures returns an error if a feature is invalid: if its name is empty or occurs twice, if
// its ingredients are missing, repeated or out of range, if its weights are out of range, or if it
// is of several kinds.
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

// An Importance is the permutation importance of a feature (Breiman 2001, section 10): by how much
// the error of a tree rises if the values of the feature are permuted. For each tree, the values
// are permuted among the rows that the tree has not seen.
//
// For classes the error is the share of wrong predictions, so that Mean is at most 1 and can be a
// little below 0. For numbers the error is the mean squared error divided by the variance of the
// labels.
type Importance struct {
	Mean float64 `json:"mean"` // mean over the trees of the rise of the error
	SE   float64 `json:"se"`   // standard error of Mean
}
