package search

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"kir/mcmc"
)

// A Niche classifies compositions by three features: the number of ingredients, the main ingredient
// or group (that of the largest amount), and the band of an attribute's mean.
type Niche struct {
	Common    []bool    // ingredients that all recipes have, which are never the main one; nil for none
	Group     []int     // group of each ingredient, from 0; nil if each ingredient is a group of its own
	Attribute []float64 // attribute of each ingredient, such as its cost; nil if niches have no bands
	Bands     []float64 // increasing lower ends of the second and later bands of Σ attribute·amount / total
}

// AttributeBands returns two numbers that divide the known compositions into thirds by the mean of an attribute. They
// become Bands of a [Niche]. It returns none if the means do not differ.
func AttributeBands(attribute []float64, known []*mcmc.Composition) []float64 {
	means := make([]float64, len(known))
	for k, x := range known {
		means[k] = meanOf(attribute, x.Parts())
	}
	slices.Sort(means)
	if len(means) < 3 || means[0] == means[len(means)-1] {
		return nil
	}
	return []float64{means[len(means)/3], means[2*len(means)/3]}
}

// meanOf returns Σ attribute·amount / total.
func meanOf(attribute []float64, parts []mcmc.Part) float64 {
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
