package dataset

import (
	"slices"
	"strconv"

	"kir/internal/measure"
)

// A LooseUnitUse describes how often a book uses a unit that has no standard size, such as a dash.
type LooseUnitUse struct {
	Name        string   // name of the unit
	Recipes     int      // number of recipes that use the unit
	Size        string   // size that the book assumes, such as "0.9 ml", or in g if all recipes that use the unit are of masses
	SizeChoices []string // half the default size, the default size, and twice the default size
}

// LooseUnits returns the units of the book that have no standard size. Units that more recipes use
// come first.
func (b *Book) LooseUnits() []LooseUnitUse {
	usual := measure.DefaultUnits()
	counts := make(map[*measure.Unit]int)
	var units []*measure.Unit
	used := make(map[*measure.Unit]*measure.Unit) // by default unit: the unit as the book has it, a volume if it is one in any recipe
	for i := range b.Recipes {
		seen := make(map[*measure.Unit]bool)
		for _, p := range b.Recipes[i].Parts {
			if p.Unit == nil {
				continue
			}
			u, ok := usual.Lookup(p.Unit.Name)
			if !ok || u.AsMass == nil || seen[u] || p.Unit.Kind != measure.Volume && p.Unit.Kind != measure.Mass {
				continue
			}
			if used[u] == nil || p.Unit.Kind == measure.Volume {
				used[u] = p.Unit
			}
			if seen[u] = true; counts[u] == 0 {
				units = append(units, u)
			}
			counts[u]++
		}
	}
	slices.SortStableFunc(units, func(a, b *measure.Unit) int { return counts[b] - counts[a] })
	var all []LooseUnitUse
	for _, u := range units {
		write := func(size measure.Amount, times float64) string {
			v := float64(size.Float64() * times)
			if used[u].Kind == measure.Mass {
				return strconv.FormatFloat(v, 'g', 3, 64) + " g"
			}
			return strconv.FormatFloat(float64(v*10), 'g', 3, 64) + " ml" // from cl
		}
		usualSize := u.Size
		if used[u].Kind == measure.Mass {
			usualSize = u.AsMass.Size
		}
		use := LooseUnitUse{Name: u.Name, Recipes: counts[u], Size: write(used[u].Size, 1)}
		for _, times := range []float64{0.5, 1, 2} {
			use.SizeChoices = append(use.SizeChoices, write(usualSize, times))
		}
		all = append(all, use)
	}
	return all
}
