package search

import (
	"slices"

	"kir/mcmc"
)

// A diversityFilter holds compositions from which a walk must keep a minimum distance. It records the best
// composition found that is far enough from all of them.
type diversityFilter struct {
	distance            *Distance
	avoidedCompositions []Found
	minDistance         float64
	bestFound           Found // best composition offered that is far enough; LogScore is −Inf if there is none yet
}

// isFarEnough reports whether a composition has at least the minimum distance from each composition that the filter
// avoids.
func (a *diversityFilter) isFarEnough(parts []mcmc.Part) bool {
	for k := range a.avoidedCompositions {
		if a.distance.Between(a.avoidedCompositions[k].Parts, parts) < a.minDistance {
			return false
		}
	}
	return true
}

// offer records a copy of the composition if it scores more than the recorded composition and is far enough from
// all avoided compositions.
func (a *diversityFilter) offer(parts []mcmc.Part, conditions []int32, logScore float64) {
	if logScore > a.bestFound.LogScore && a.isFarEnough(parts) {
		a.bestFound.Parts, a.bestFound.Conditions, a.bestFound.LogScore = append(a.bestFound.Parts[:0], parts...), slices.Clone(conditions), logScore
	}
}
