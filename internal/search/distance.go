package search

import (
	"math"
	"slices"

	"kir/mcmc"
)

// A Distance measures how much two compositions differ, by Hellinger's distance,
//
//	d(x, y) = √(1 − Σ_i √(p_i·q_i)),
//
// where p and q are the shares in x and y without the ingredients that all known recipes have. It is a metric.
// The distance is 0 for compositions of equal shares and 1 for compositions that have no ingredient in common.
//
// Aitchison's distance, the usual distance between compositions, takes logarithms. It is undefined where one
// composition has an ingredient and the other composition does not. With any substitute for 0, a trace counts
// for more than half of the recipe. Half the sum of |p_i − q_i| has the opposite fault: a dash of bitters
// hardly counts. Square roots lie between: a trace of 0.5 % is a distance of 0.05, and a trace of 5 % is a
// distance of 0.16 (Rao 1995; Legendre and Gallagher 2001, for species counts, which have as many zeros).
type Distance struct {
	isCommon      []bool // item i tells whether all known recipes have ingredient i
	amountScratch []int32
}

// NewDistance returns the distance between compositions of n ingredients, given the known recipes. Only one
// goroutine may use the result; see [Distance.Clone].
func NewDistance(n int, known []*mcmc.Composition) *Distance {
	d := &Distance{isCommon: make([]bool, n), amountScratch: make([]int32, n)}
	if len(known) < 2 {
		return d
	}
	for i := range d.isCommon {
		d.isCommon[i] = !slices.ContainsFunc(known, func(x *mcmc.Composition) bool { return x.Amount(i) == 0 })
	}
	return d
}

// Clone returns the same distance for use by another goroutine.
func (d *Distance) Clone() *Distance {
	return &Distance{d.isCommon, make([]int32, len(d.amountScratch))}
}

// Common reports whether all known recipes use ingredient i.
func (d *Distance) Common(i int) bool { return d.isCommon[i] }

// Between returns the distance of two compositions, given their ingredients and amounts in any order.
// Ingredients that all known recipes have are left out. If nothing is left of both compositions, the distance
// is 0. If nothing is left of only one, the distance is 1.
func (d *Distance) Between(x, y []mcmc.Part) float64 {
	ofX, ofY := 0, 0
	for _, p := range x {
		if !d.isCommon[p.Ingredient] {
			d.amountScratch[p.Ingredient] = int32(p.Amount)
			ofX += p.Amount
		}
	}
	// Roots of whole numbers are summed in the order of y, so the result does not depend on the order of x.
	affinity := 0.0
	for _, p := range y {
		if !d.isCommon[p.Ingredient] {
			ofY += p.Amount
			if a := d.amountScratch[p.Ingredient]; a > 0 {
				affinity += math.Sqrt(float64(a) * float64(p.Amount))
			}
		}
	}
	for _, p := range x {
		d.amountScratch[p.Ingredient] = 0
	}
	if ofX == 0 || ofY == 0 {
		if ofX == ofY {
			return 0
		}
		return 1
	}
	return math.Sqrt(max(0, 1-affinity/math.Sqrt(float64(ofX)*float64(ofY))))
}

// typicalPairCount sets from how many pairs of compositions a median distance is computed. If there are fewer
// than twice this number of pairs, all pairs are used. Otherwise an evenly spread selection of at least this
// number of pairs is used.
const typicalPairCount = 20_000

// Typical returns the median distance between two of the compositions. If there are too many pairs, it uses an
// evenly spread selection of the pairs. The result is NaN for fewer than two compositions.
func (d *Distance) Typical(all []*mcmc.Composition) float64 {
	parts := make([][]mcmc.Part, len(all))
	for k, x := range all {
		parts[k] = x.Parts()
	}
	stride := max(1, len(all)*(len(all)-1)/2/typicalPairCount)
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

// median returns the median of v, NaN if v is empty. It sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return float64((v[(len(v)-1)/2] + v[len(v)/2]) / 2)
}
