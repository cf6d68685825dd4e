package search

import (
	"math"
	"slices"

	"kir/mcmc"
)

// A Distance measures how much two compositions differ by Hellinger's distance,
//
//	d(x, y) = √(1 − Σ_i √(p_i·q_i)),
//
// where p and q are the shares in x and y without the ingredients that all known recipes have. It
// is a metric. It is 0 for equal compositions and 1 for compositions that have nothing in common.
//
// Aitchison's distance, the usual one between compositions, takes logarithms. It is undefined where
// one has an ingredient and the other has not. With any substitute for 0, a trace counts for more
// than half of the recipe. Half the sum of |p_i − q_i| has the opposite fault: a dash of bitters
// counts for nothing. The roots lie between: a trace of 0.5 % is a distance of 0.05, one of 5 % of
// 0.16 (Rao 1995; Legendre and Gallagher 2001, for species counts, which have as many zeros).
type Distance struct {
	common []bool // by ingredient: whether all known recipes have it
	amount []int32
}

// NewDistance returns the distance among compositions of n ingredients, given the
// known ones. It belongs to one goroutine; see [Distance.Clone].
func NewDistance(n int, known []*mcmc.Composition) *Distance {
	d := &Distance{common: make([]bool, n), amount: make([]int32, n)}
	if len(known) < 2 {
		return d
	}
	for i := range d.common {
		d.common[i] = !slices.ContainsFunc(known, func(x *mcmc.Composition) bool { return x.Amount(i) == 0 })
	}
	return d
}

// Clone returns the same distance for another goroutine.
func (d *Distance) Clone() *Distance {
	return &Distance{d.common, make([]int32, len(d.amount))}
}

// Common reports whether all known recipes use ingredient i.
func (d *Distance) Common(i int) bool { return d.common[i] }

// Between returns the distance of two compositions, whose parts may be in any order. If both consist only of common
// ingredients, it is 0; if one does, it is 1.
func (d *Distance) Between(x, y []mcmc.Part) float64 {
	ofX, ofY := 0, 0
	for _, p := range x {
		if !d.common[p.Ingredient] {
			d.amount[p.Ingredient] = int32(p.Amount)
			ofX += p.Amount
		}
	}
	// Roots of whole numbers are summed in the order of y, so the result does not depend on the order of x.
	affinity := 0.0
	for _, p := range y {
		if !d.common[p.Ingredient] {
			ofY += p.Amount
			if a := d.amount[p.Ingredient]; a > 0 {
				affinity += math.Sqrt(float64(a) * float64(p.Amount))
			}
		}
	}
	for _, p := range x {
		d.amount[p.Ingredient] = 0
	}
	if ofX == 0 || ofY == 0 {
		if ofX == ofY {
			return 0
		}
		return 1
	}
	return math.Sqrt(max(0, 1-affinity/math.Sqrt(float64(ofX)*float64(ofY))))
}

// mostPairs is the greatest number of pairs from which a median distance is computed.
const mostPairs = 20_000

// Typical returns the median distance between two of the compositions. It uses all pairs, or an
// evenly spread part of them if there are too many. It is NaN for fewer than two compositions.
func (d *Distance) Typical(all []*mcmc.Composition) float64 {
	parts := make([][]mcmc.Part, len(all))
	for k, x := range all {
		parts[k] = x.Parts()
	}
	stride := max(1, len(all)*(len(all)-1)/2/mostPairs)
	var distances []float64
	pair := 0
	for a := range parts {
		for b := range a {
			if pair%stride == 0 {
				distances = append(distances, d.Between(parts[a], parts[b]))
			}
			pair++
		}
	}
	return median(distances)
}

// median returns the median, NaN for no numbers. It sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return float64((v[(len(v)-1)/2] + v[len(v)/2]) / 2)
}
