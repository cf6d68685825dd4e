package search

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"kir/mcmc"
)

// Options says what to search, and for how long.
type Options struct {
	// Evaluations is the budget: the approximate number of lines to score. A line is all divisions of the joint
	// amount of two ingredients; see [mcmc.Scorer]. Scoring a line takes about as long as scoring a single
	// composition.
	Evaluations int
	Seed        uint64
	Workers     int // number of walks that run at the same time, 0 for all cores; affects only the duration

	// Starts are compositions from which the search starts, such as known recipes. They may violate rules and
	// limits of amounts. The search repairs those that need few changes.
	Starts []*mcmc.Composition

	// FeasibleStarts are further compositions from which the search starts. They satisfy all rules and limits
	// of amounts.
	FeasibleStarts []Found

	// Least and Most hold the least and the greatest amount of each ingredient if it is used. A nil Least
	// stands for 1, and a nil Most for the total. An item 0 of Most excludes the ingredient.
	Least, Most []int

	// DiverseCount is the number of diverse compositions to find: the best compositions that differ by at least
	// MinDistance, measured by Distance. The search spends half of the budget on them. 0 means none.
	DiverseCount int
	Distance     *Distance
	MinDistance  float64

	// Niche divides compositions into classes, the niches. The search keeps the best composition of each niche.
	Niche Niche

	// Refuse reports whether compositions that use exactly the given ingredients must not be kept, for example
	// because a known recipe uses the same ingredients. The argument is ascending. A nil Refuse excludes
	// nothing. Several goroutines call Refuse at the same time.
	Refuse func(ingredients []int) bool

	// Steps divides the search among processes. StepName is the beginning of the names of its steps.
	Steps    *Steps
	StepName string

	// LinesScored is a counter of the lines scored so far, for progress reports. It may be nil.
	LinesScored *atomic.Int64

	// slots holds one unit for each worker. Searches that run at the same time share it. Nil stands for no limit.
	slots *semaphore.Weighted
}

func (o *Options) check(t *mcmc.Target) error {
	n := t.Space().N()
	switch {
	case o.Evaluations < 1:
		return fmt.Errorf("search: %d evaluations: there must be at least 1", o.Evaluations)
	case o.Least != nil && len(o.Least) != n, o.Most != nil && len(o.Most) != n:
		return fmt.Errorf("search: doses of %d and %d ingredients, and there are %d", len(o.Least), len(o.Most), n)
	}
	if o.DiverseCount < 0 || o.DiverseCount > 0 && (o.Distance == nil || !(o.MinDistance >= 0 && o.MinDistance <= 1)) {
		return fmt.Errorf("search: %d ideas that are %v apart: there must be a distance, in 0..1", o.DiverseCount, o.MinDistance)
	}
	for k, x := range o.Starts {
		x, err := withDefaultConditions(t, x)
		if err == nil {
			err = t.Space().Contains(x)
		}
		if err != nil {
			return fmt.Errorf("search: start %d: %w", k, err)
		}
	}
	return o.Niche.check(n)
}

// named returns options for another search that may run at the same time, whose steps have the given name.
func (o *Options) named(stepName string) Options {
	own := *o
	own.StepName, own.Distance = stepName, o.Distance.Clone()
	return own
}

// withSlot calls do when a worker is free; see slots.
func (o *Options) withSlot(ctx context.Context, do func() error) error {
	if o.slots == nil {
		return do()
	}
	if err := o.slots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer o.slots.Release(1)
	return do()
}

func (o *Options) workerCount() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// maxBudgetLines is the greatest number of lines to score at effort 1. Twice as many lines raise the score by less
// than 1 %.
const maxBudgetLines = 100_000

// LineBudget returns the number of lines that a search scores, given the total number of iterations of the chains of
// the same run. Each iteration scores a line. The budget is a quarter of the iterations, at most 100,000,
// multiplied by the effort.
func LineBudget(iterations int64, effort float64) int {
	return int(effort * float64(min(iterations/4, maxBudgetLines)))
}
