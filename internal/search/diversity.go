package search

import (
	"slices"

	"kir/mcmc"
)

// A diversityFilter helps a search to find compositions that differ. It holds compositions to avoid, and a
// minimum distance from them. It records the best composition offered that has at least the minimum distance
// from all of these.
type diversityFilter struct {
	distance            *Distance
	avoidedCompositions []Found
	minDistance         float64
	bestFound           Found // best composition offered that is far enough; LogScore is −Inf if there is none yet
}

// isFarEnough reports whether a composition has at least the minimum distance from each composition to avoid.
func (a *diversityFilter) isFarEnough(parts []mcmc.Part) bool {
	for k := range a.avoidedCompositions {
		if a.distance.Between(a.avoidedCompositions[k].Parts, parts) < a.minDistance {
			return false
		}
	}
	return true
}

// offerComposition records a copy of the composition if it scores more than the recorded composition and has at least the
// minimum distance from each composition to avoid.
func (a *diversityFilter) offerComposition(parts []mcmc.Part, conditions []int32, logScore float64) {
	if logScore > a.bestFound.LogScore && a.isFarEnough(parts) {
		a.bestFound.Parts, a.bestFound.Conditions, a.bestFound.LogScore = append(a.bestFound.Parts[:0], parts...), slices.Clone(conditions), logScore
	}
}
