package search

import (
	"slices"

	"kir/mcmc"
)

// A searcher is the state of a search.
type searcher struct {
	target  *mcmc.Target
	o       Options
	doses   *doses
	archive *Archive

	seeds    []Found // to begin from, the best first
	partners []int32 // ingredients of the seeds, as often as they occur
	spread   float64 // of log scores of random compositions

	evaluations, compositions int64
	feasible                  int
}

// refuses reports whether compositions of a set of ingredients must not be kept.
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
