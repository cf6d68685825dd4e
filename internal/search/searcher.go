package search

import (
	"slices"

	"kir/mcmc"
)

// A searcher is the state of a search.
type searcher struct {
	target  *mcmc.Target
	o       Options
	limits  *amountLimits
	archive *Archive

	seeds    []Found // compositions to start from, the best first
	partners []int32 // ingredients of the best compositions, each as often as it occurs there
	spread   float64 // standard deviation of the log scores of random compositions

	evaluations, compositions int64
	feasible                  int
}

// refuses reports whether Options.Refuse excludes the set of ingredients of parts.
func (s *searcher) refuses(parts []mcmc.Part) bool {
	if s.o.Refuse == nil {
		return false
	}
	set := make([]int, len(parts))
	for k, p := range parts {
		set[k] = p.Ingredient
	}
	slices.Sort(set)
	return s.o.Refuse(set)
}
