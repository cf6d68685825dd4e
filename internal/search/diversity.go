package search

import (
	"slices"

	"kir/mcmc"
)

// diversityFilter holds the compositions that a walk must keep a distance from, and the best
// composition found that does.
type diversityFilter struct {
	distance *Distance
	from     []Found
	least    float64
	best     Found // LogScore −Inf: none
}

// allows reports whether parts are far enough from all these compositions.
func (a *diversityFilter) allows(parts []mcmc.Part) bool {
	for k := range a.from {
		if a.distance.Between(a.from[k].Parts, parts) < a.least {
			return false
		}
	}
	return true
}

// offer keeps a copy of a composition if it is the best so far that is far enough.
func (a *diversityFilter) offer(parts []mcmc.Part, conditions []int32, logScore float64) {
	if logScore > a.best.LogScore && a.allows(parts) {
		a.best.Parts, a.best.Conditions, a.best.LogScore = append(a.best.Parts[:0], parts...), slices.Clone(conditions), logScore
	}
}
