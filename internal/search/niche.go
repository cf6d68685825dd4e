package search

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"kir/mcmc"
)

// A Niche classifies compositions by three features: the number of ingredients, the main ingredient or group, and
// the band of the mean of an attribute. The main ingredient or group is the one with the largest amount.
type Niche struct {
	Common    []bool    // by ingredient: whether all recipes have it, so that it is never the main one; nil for none
	Group     []int     // by ingredient: its group, from 0; nil if each ingredient is a group of its own
	Attribute []float64 // by ingredient: an attribute, such as its cost; nil if niches have no bands
	Bands     []float64 // increasing lower ends of the second and later bands of Σ attribute·amount / total
}

// AttributeBands returns two numbers that divide the known compositions into thirds by the mean of an attribute.
// The numbers are meant for the field Bands of a [Niche]. The result is nil if there are fewer than three
// compositions or all means are equal.
func AttributeBands(attribute []float64, known []*mcmc.Composition) []float64 {
	means := make([]float64, len(known))
	for k, x := range known {
		means[k] = attributeMean(attribute, x.Parts())
	}
	slices.Sort(means)
	if len(means) < 3 || means[0] == means[len(means)-1] {
		return nil
	}
	return []float64{means[len(means)/3], means[2*len(means)/3]}
}

// attributeMean returns the mean of an attribute weighted by amounts, Σ attribute·amount / total.
func attributeMean(attribute []float64, parts []mcmc.Part) float64 {
	sum, total := 0.0, 0
	for _, p := range parts {
		sum += float64(attribute[p.Ingredient] * float64(p.Amount))
		total += p.Amount
	}
	return sum / float64(total)
}

func (k *Niche) check(n int) error {
	if k.Common != nil && len(k.Common) != n || k.Group != nil && len(k.Group) != n || k.Attribute != nil && len(k.Attribute) != n {
		return fmt.Errorf("search: %d that are common, groups of %d and an attribute of %d ingredients, and there are %d", len(k.Common), len(k.Group), len(k.Attribute), n)
	}
	for i, g := range k.Group {
		if g < 0 || g > math.MaxInt32 {
			return fmt.Errorf("search: ingredient %d is of the group %d", i, g)
		}
	}
	if !sort.Float64sAreSorted(k.Bands) {
		return fmt.Errorf("search: the bands do not rise: %v", k.Bands)
	}
	return nil
}
