package search

import (
	"slices"

	"kir/mcmc"
)

// A searcher holds the state of a search for the best compositions; see [Best].
type searcher struct {
	target  *mcmc.Target
	options Options
	limits  *amountLimits
	archive *Archive

	walksPerRound int // number of walks in a round

	startCandidates []Found // compositions from which walks can start, from best to worst
	partnerPool     []int32 // ingredients of the best compositions, each as often as it occurs there; steps prefer to draw from these
	scoreSD         float64 // standard deviation of the log scores of random compositions

	evaluations        int64 // number of lines and single compositions scored
	compositions       int64 // number of compositions on the scored lines
	feasibleStartCount int
}

// refusesIngredients reports whether the set of ingredients must not be suggested; see [Options.Refuse].
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
