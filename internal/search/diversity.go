package search

import (
	"slices"

	"kir/mcmc"
)

// A diversityFilter holds compositions from which a walk must keep a distance. It records the best composition found
// that keeps it.
type diversityFilter struct {
	distance *Distance
	found    []Found
	least    float64
	best     Found // LogScore is −Inf if there is none yet
}

// allows reports whether a composition is far enough from all those of the filter.
func (a *diversityFilter) allows(parts []mcmc.Part) bool {
	for k := range a.found {
		if a.distance.Between(a.found[k].Parts, parts) < a.least {
			return false
		}
	}
	return true
}

// offer records a copy of the composition if it is better than the recorded one and far enough.
func (a *diversityFilter) offer(parts []mcmc.Part, conditions []int32, logScore float64) {
	if logScore > a.best.LogScore && a.allows(parts) {
		a.best.Parts, a.best.Conditions, a.best.LogScore = append(a.best.Parts[:0], parts...), slices.Clone(conditions), logScore
	}
}
