package dataset

import (
	"math"
	"slices"

	"kir/internal/measure"
)

// A RecipeSize is the size of a typical recipe of a book, in the unit that the book measures in.
type RecipeSize struct {
	Unit   *measure.Unit // most frequent unit of the amounts that is a volume or a mass
	Median float64       // median size of the recipes whose amounts all have units of that kind, in Unit
}

// RecipeSize returns the size of a typical recipe. The result ok is false if no amount has a unit of
// volume or mass, or if no recipe has such amounts alone.
func (b *Book) RecipeSize() (size RecipeSize, ok bool) {
	uses := make(map[*measure.Unit]int)
	for _, r := range b.Recipes {
		for _, part := range r.Parts {
			if u := part.Unit; u != nil && (u.Kind == measure.Volume || u.Kind == measure.Mass) {
				uses[u]++
			}
		}
	}
	for u, n := range uses {
		if size.Unit == nil || n > uses[size.Unit] || n == uses[size.Unit] && u.Name < size.Unit.Name {
			size.Unit = u
		}
	}
	if size.Unit == nil {
		return size, false
	}
	unit, _ := size.Unit.Size.Rat().Float64()
	var all []float64
	for _, r := range b.Recipes {
		sum := 0.0
		for _, part := range r.Parts {
			if part.Unit == nil || part.Unit.Kind != size.Unit.Kind {
				sum = math.NaN()
				break
			}
			base, _ := part.Base().Float64()
			sum += base / unit
		}
		if !math.IsNaN(sum) {
			all = append(all, sum)
		}
	}
	if len(all) == 0 {
		return size, false
	}
	slices.Sort(all)
	size.Median = all[len(all)/2]
	return size, true
}
