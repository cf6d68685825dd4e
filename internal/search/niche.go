package search

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"kir/mcmc"
)

// A Niche divides compositions into classes, called niches, by three features: the number of ingredients, the
// main ingredient or group, and the band of the mean of an attribute. The main ingredient or group is the one
// with the largest amount.
type Niche struct {
	Common    []bool    // item i tells whether all recipes have ingredient i, which is then never the main one; nil for none
	Group     []int     // item i is the index of the group of ingredient i; nil if each ingredient is a group of its own
	Attribute []float64 // item i is an attribute of ingredient i, such as its cost; nil if niches have no bands
	Bands     []float64 // lower ends of the second and later bands of the mean Σ attribute·amount / total, increasing
}

// AttributeBands returns the two numbers that divide the known compositions into thirds by the mean of an
// attribute. They are meant for [Niche.Bands]. The result is nil if there are fewer than three compositions or
// all means are equal.
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
