package search

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// A Result holds the result of [Best].
type Result struct {
	Archive      *Archive
	Evaluations  int64   // number of lines and compositions scored
	Compositions int64   // number of compositions considered: all splits of scored lines
	Starts       int     // number of the options' starts that satisfy the rules, some after repair
	Diverse      []Found // best compositions that keep the required distance from each other, the best first
}

// Unweighted returns the target in which each objective of positive weight has weight 1. Its score Π_k
// y_k can be compared between runs of different weights.
func Unweighted(t *mcmc.Target) (*mcmc.Target, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		if wishes[k].Weight > 0 {
			wishes[k].Weight = 1
		}
	}
	return t.WithObjectives(wishes...)
}

// These constants divide the budget into rounds of walks. Few long walks beat many short ones: halving the number of
// rounds helps more than halving the length.
const (
	walks     = 8    // number of walks in a round
	walkLong  = 1500 // lines of a walk beyond which a larger budget adds rounds instead
	fewRounds = 3
	mostRound = 16
)

// Best searches for the compositions of highest score Π_k y_k^c_k among those to which the target
// gives density.
//
// It is iterated annealing. A walk goes from line to line, each of a used ingredient and another
// one, and takes a piece of each with probability ∝ score^β. β rises from where random compositions
// differ to where the last per mille of the score counts. The first round of walks starts at the
// best of the starts and at random ones. Each later round starts at compositions of the archive,
// alternately from its upper third and from all of it. From the fourth round on one walk starts
// anew. The walks of one round are independent, so they can run at once. Half of the budget goes
// into diverse compositions, if the options ask for them.
//
// It fails with an error that wraps [mcmc.ErrNoStart] if it finds no composition of positive score
// to start from.
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

// round makes the walks of one round in parallel and merges their results in a fixed order.
func (s *searcher) round(ctx context.Context, round, each int) error {
	ws := make([]*walker, walks)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	if round > 0 {
		s.learnPartners(s.archive.Best())
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

// start returns where walk k of a round starts, and the β at which it starts.
func (s *searcher) start(control *mcmc.Rand, round, k int) (Found, float64) {
	elites := s.archive.Best()
	if round == 0 || len(elites) == 0 {
		if k%2 == 0 {
			return s.seeds[min(k/2, len(s.seeds)-1)], hottest
		}
		return s.seeds[control.Intn(len(s.seeds))], hottest
	}
	switch {
	case k == walks-1 && round >= fewRounds: // the last walk explores afresh from any seed
		return s.seeds[control.Intn(len(s.seeds))], hottest
	case k%2 == 0:
		elites = elites[:(len(elites)+2)/3]
	}
	return elites[control.Intn(len(elites))], warmest
}
