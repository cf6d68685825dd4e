package search

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"kir/mcmc"
)

// Options say where is looked for the best, and for how long.
type Options struct {
	// Evaluations is how many lines are scored, about: the budget. A line takes
	// about as long as a composition.
	Evaluations int
	Seed        uint64
	Workers     int // walks made at once; it changes nothing but the time. 0: all cores

	// Starts are compositions to begin from, such as known recipes; they may break
	// rules and doses, which they are made to keep if a few repairs do.
	Starts []*mcmc.Composition

	// Extra are compositions to begin from beside the starts, which keep rules and doses.
	Extra []Found

	// Least and Most bound the amount of each ingredient where it is used, as the
	// known recipes have it; nil: 1 and the total. A most of 0 leaves it out.
	Least, Most []int

	// Diverse is for how many compositions that are at least Apart from each other,
	// by Distance, the best are to be looked for; 0: none. It takes half of the
	// budget.
	Diverse  int
	Distance *Distance
	Apart    float64

	// Niche tells compositions apart of which the archive is to keep one each.
	Niche Niche

	// Refuse says of which sets of ingredients, ascending, nothing is to be
	// kept, such as those of known recipes; nil: of none. Walks ask at the same
	// time.
	Refuse func(ingredients []int) bool

	// LinesScored counts the lines that the walks have scored, while they do, unless it is
	// nil.
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
	if o.Diverse < 0 || o.Diverse > 0 && (o.Distance == nil || !(o.Apart >= 0 && o.Apart <= 1)) {
		return fmt.Errorf("search: %d ideas that are %v apart: there must be a distance, in 0..1", o.Diverse, o.Apart)
	}
	for k, x := range o.Starts {
		if err := t.Space().Contains(x); err != nil {
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

// fullBudget is how many evaluations a search of effort 1 has at most: from there
// on twice as many are worth less than a hundredth of the score.
const fullBudget = 100_000

// Budget returns the evaluations of a search that stands beside so many iterations
// of chains, each of which scores a line: a quarter of these, at most 100,000,
// times the effort. It is 0 for an effort of 0.
func Budget(iterations int64, effort float64) int {
	return int(effort * float64(min(iterations/4, fullBudget)))
}
