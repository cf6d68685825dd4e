package search

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"kir/mcmc"
)

// Options state what to search and how long.
type Options struct {
	// Evaluations is the budget: the approximate number of lines to score. A line takes about as
	// long as a composition.
	Evaluations int
	Seed        uint64
	Workers     int // walks that run at the same time; affects only the duration; 0 for all cores

	// Starts are compositions to start from, such as known recipes. They may violate rules and limits of amounts. The
	// search repairs those that need few changes.
	Starts []*mcmc.Composition

	// FeasibleStarts are further compositions to start from. They satisfy all rules and limits of amounts.
	FeasibleStarts []Found

	// Least and Most bound the amount of each used ingredient. Nil stands for 1 and the total. A Most of 0 excludes
	// the ingredient.
	Least, Most []int

	// Diverse is how many of the best compositions that differ by at least MinDistance, measured by Distance, the search
	// must find. It takes half of the budget for them. 0 means none.
	Diverse     int
	Distance    *Distance
	MinDistance float64

	// Niche defines the niches of the archive, which keeps one composition of each.
	Niche Niche

	// Refuse reports whether compositions of a set of ingredients, ascending, must not be kept,
	// such as those of known recipes. Nil refuses none. Walks call it concurrently.
	Refuse func(ingredients []int) bool

	// LinesScored counts the lines scored so far, for progress reports. It may be nil.
	LinesScored *atomic.Int64
}

func (o *Options) check(t *mcmc.Target) error {
	n := t.Space().N()
	switch {
	case o.Evaluations < 1:
		return fmt.Errorf("search: %d evaluations: there must be at least 1", o.Evaluations)
	case o.Least != nil && len(o.Least) != n, o.Most != nil && len(o.Most) != n:
		return fmt.Errorf("search: doses of %d and %d ingredients, and there are %d", len(o.Least), len(o.Most), n)
	}
	if o.Diverse < 0 || o.Diverse > 0 && (o.Distance == nil || !(o.MinDistance >= 0 && o.MinDistance <= 1)) {
		return fmt.Errorf("search: %d ideas that are %v apart: there must be a distance, in 0..1", o.Diverse, o.MinDistance)
	}
	for k, x := range o.Starts {
		x, err := withConditions(t, x)
		if err == nil {
			err = t.Space().Contains(x)
		}
		if err != nil {
			return fmt.Errorf("search: start %d: %w", k, err)
		}
	}
	return o.Niche.check(n)
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// fullBudget is the greatest number of lines at effort 1. Twice as many raise the score by less than 1 %.
const fullBudget = 100_000

// Budget returns the number of evaluations of a search next to chains with that many iterations,
// each of which scores a line. It is a quarter of the iterations, at most 100,000, times the
// effort. It is 0 for an effort of 0.
func Budget(iterations int64, effort float64) int {
	return int(effort * float64(min(iterations/4, fullBudget)))
}
