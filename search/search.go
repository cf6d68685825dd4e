package search

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir"
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
	Starts []*kir.Composition

	// Least and Most bound the amount of each ingredient where it is used, as the
	// known recipes have it; nil: 1 and the total. A most of 0 leaves it out.
	Least, Most []int

	// Ideas is for how many compositions that are at least Apart from each other,
	// by Distance, the best are to be looked for; 0: none. It takes half of the
	// budget.
	Ideas    int
	Distance *Distance
	Apart    float64

	// Kind tells compositions apart of which the archive is to keep one each.
	Kind Kind

	// Refuse says of which sets of ingredients, ascending, nothing is to be
	// kept, such as those of known recipes; nil: of none. Walks ask at the same
	// time.
	Refuse func(ingredients []int) bool
}

// A Found is a composition with its score.
type Found struct {
	Parts    []kir.Part // by ingredient
	LogScore float64    // Σ_k c_k·log y_k of the target that was searched
}

// A Result is what [Best] found.
type Result struct {
	Archive      *Archive
	Evaluations  int64   // lines and compositions that were scored
	Compositions int64   // compositions that were looked at: each split of a line
	Starts       int     // of the options' starts, those that could be made feasible
	Ideas        []Found // the best that are apart from each other, the best first
}

// Plain returns the target whose wishes count once each, those of weight 0 still
// not at all: its score Π_k y_k is made of the properties as they are, and can be
// compared between runs of different weights.
func Plain(t *kir.Target) (*kir.Target, error) {
	wishes := slices.Clone(t.Wishes())
	for k := range wishes {
		if wishes[k].Weight > 0 {
			wishes[k].Weight = 1
		}
	}
	return t.WithWishes(wishes...)
}

// The budget is shared among rounds of walks. A walk is to be long rather than
// one of many: halving the rounds is worth more than halving the length.
const (
	walks     = 8    // in a round
	walkLong  = 1500 // evaluations of a walk, from which on there are more rounds
	fewRounds = 3
	mostRound = 16
)

// Best looks for the compositions of highest score Π_k y_k^c_k among those to
// which the target gives density.
//
// It is iterated annealing. A walk goes from line to line, of an ingredient that
// is used and another one, and takes a piece of each with probability ∝
// score^β, where β rises from what makes random compositions differ to what
// makes the last per mille count. The first round of walks begins at the best of
// the starts and at random ones; each later one at what the archive has, in its
// upper third and everywhere in turn; from the fourth on one begins anew. Walks of
// one round do not know of each other, so that they can be made at once. Half of
// the budget then goes into ideas that are apart, if they are asked for.
//
// It fails with an error that wraps [kir.ErrNoStart] if nothing of positive
// score is found to begin from.
func Best(ctx context.Context, t *kir.Target, o Options) (*Result, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	s := &searcher{target: t, o: o, archive: newArchive(o.Kind, mostKinds)}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	left := int64(o.Evaluations) - s.evaluations
	if o.Ideas > 0 {
		left /= 2
	}
	rounds := min(max(int(left)/(walks*walkLong), fewRounds), mostRound)
	each := max(int(left)/(walks*rounds), 1)
	for round := range rounds {
		if err := s.round(ctx, round, each); err != nil {
			return nil, err
		}
	}
	ideas, err := s.ideas(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{s.archive, s.evaluations, s.compositions, s.feasible, ideas}, nil
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

func (o *Options) check(t *kir.Target) error {
	n := t.Space().N()
	switch {
	case o.Evaluations < 1:
		return fmt.Errorf("search: %d evaluations: there must be at least 1", o.Evaluations)
	case o.Least != nil && len(o.Least) != n, o.Most != nil && len(o.Most) != n:
		return fmt.Errorf("search: doses of %d and %d ingredients, and there are %d", len(o.Least), len(o.Most), n)
	}
	if o.Ideas < 0 || o.Ideas > 0 && (o.Distance == nil || !(o.Apart >= 0 && o.Apart <= 1)) {
		return fmt.Errorf("search: %d ideas that are %v apart: there must be a distance, in 0..1", o.Ideas, o.Apart)
	}
	for k, x := range o.Starts {
		if err := t.Space().Contains(x); err != nil {
			return fmt.Errorf("search: start %d: %w", k, err)
		}
	}
	return o.Kind.check(n)
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// A searcher is a search that goes on.
type searcher struct {
	target  *kir.Target
	o       Options
	doses   *doses
	archive *Archive

	seeds    []Found // to begin from, the best first
	partners []int32 // ingredients of the seeds, as often as they occur
	spread   float64 // of log scores of random compositions

	evaluations, compositions int64
	feasible                  int
}

// refuses says whether a set of ingredients is not to be kept.
func (s *searcher) refuses(parts []kir.Part) bool {
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

// round makes the walks of a round and merges what they found, in their order.
func (s *searcher) round(ctx context.Context, round, each int) error {
	ws := make([]*walker, walks)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	if round > 0 {
		s.learn(s.archive.Best())
	}
	control := kir.NewRand(s.o.Seed, "search control", uint64(round))
	for k := range ws {
		start, heat := s.start(control, round, k)
		g.Go(func() error {
			w, err := newWalker(s, start, kir.NewRand(s.o.Seed, "search", uint64(1+round*walks+k)))
			if err != nil {
				return err
			}
			ws[k] = w
			return w.anneal(ctx, each, heat, coldest)
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	for _, w := range ws {
		s.archive.merge(w.archive)
		s.count(w)
	}
	return nil
}

// β in units of 1/spread, so that it means the same whatever is searched. The end
// is cold since forests score in small steps; see the figures in the tests.
const (
	hottest = 3    // at the beginning of a walk from the seeds
	warmest = 50   // and of one that begins at something good
	coldest = 3000 // at the end of each
)

// count adds what a walker has scored.
func (s *searcher) count(w *walker) {
	s.evaluations += w.evaluations
	s.compositions += w.compositions
}

// start returns where walk k of a round begins, and how hot.
func (s *searcher) start(control *kir.Rand, round, k int) (Found, float64) {
	elites := s.archive.Best()
	if round == 0 || len(elites) == 0 {
		if k%2 == 0 {
			return s.seeds[min(k/2, len(s.seeds)-1)], hottest
		}
		return s.seeds[control.Intn(len(s.seeds))], hottest
	}
	switch {
	case k == walks-1 && round >= fewRounds: // one looks for what the others have not come near
		return s.seeds[control.Intn(len(s.seeds))], hottest
	case k%2 == 0:
		elites = elites[:(len(elites)+2)/3]
	}
	return elites[control.Intn(len(elites))], warmest
}

// deviation returns the standard deviation, 0 of fewer than two numbers.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	n, sum, squares := float64(len(v)), 0.0, 0.0
	for _, x := range v {
		sum += x
	}
	for _, x := range v {
		squares += (x - sum/n) * (x - sum/n)
	}
	return math.Sqrt(squares / (n - 1))
}
