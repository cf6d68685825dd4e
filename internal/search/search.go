package search

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// A Result is what [Best] found.
type Result struct {
	Archive      *Archive
	Evaluations  int64   // lines and compositions that were scored
	Compositions int64   // compositions that were looked at: each split of a line
	Starts       int     // of the options' starts, those that could be made feasible
	Diverse      []Found // the best that are apart from each other, the best first
}

// Plain returns the target whose objectives count once each, those of weight 0 still
// not at all: its score Π_k y_k is made of the properties as they are, and can be
// compared between runs of different weights.
func Plain(t *mcmc.Target) (*mcmc.Target, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		if wishes[k].Weight > 0 {
			wishes[k].Weight = 1
		}
	}
	return t.WithObjectives(wishes...)
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
// It fails with an error that wraps [mcmc.ErrNoStart] if nothing of positive
// score is found to begin from.
func Best(ctx context.Context, t *mcmc.Target, o Options) (*Result, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	s := &searcher{target: t, o: o, archive: newArchive(o.Niche, maxNiches)}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	left := int64(o.Evaluations) - s.evaluations
	if o.Diverse > 0 {
		left /= 2
	}
	rounds := min(max(int(left)/(walks*walkLong), fewRounds), mostRound)
	each := max(int(left)/(walks*rounds), 1)
	for round := range rounds {
		if err := s.round(ctx, round, each); err != nil {
			return nil, err
		}
	}
	ideas, err := s.findDiverse(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{s.archive, s.evaluations, s.compositions, s.feasible, ideas}, nil
}

// round makes the walks of a round and merges what they found, in their order.
func (s *searcher) round(ctx context.Context, round, each int) error {
	ws := make([]*walker, walks)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	if round > 0 {
		s.learn(s.archive.Best())
	}
	control := mcmc.NewRand(s.o.Seed, "search control", uint64(round))
	for k := range ws {
		start, heat := s.start(control, round, k)
		g.Go(func() error {
			w, err := newWalker(s, start, mcmc.NewRand(s.o.Seed, "search", uint64(1+round*walks+k)))
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

// start returns where walk k of a round begins, and how hot.
func (s *searcher) start(control *mcmc.Rand, round, k int) (Found, float64) {
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
