package search

import (
	"slices"

	"kir/mcmc"
)

// A searcher holds the state of a search.
type searcher struct {
	target  *mcmc.Target
	options Options
	limits  *amountLimits
	archive *Archive

	seeds       []Found // compositions to start from, from best to worst
	partnerPool []int32 // ingredients of the best compositions, each as often as it occurs there; walks prefer these
	scoreSD     float64 // standard deviation of the log scores of random compositions

	evaluations, compositions int64
	feasibleStartCount        int
}

// refusesIngredients reports whether Options.Refuse excludes the set of ingredients of parts.
func (s *searcher) refusesIngredients(parts []mcmc.Part) bool {
	if s.options.Refuse == nil {
		return false
	}
	set := make([]int, len(parts))
	for k, p := range parts {
		set[k] = p.Ingredient
	}
	slices.Sort(set)
	return s.options.Refuse(set)
}
