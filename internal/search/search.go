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
	Archive            *Archive
	Evaluations        int64   // number of lines (see mcmc.Scorer) and single compositions scored
	Compositions       int64   // number of compositions considered: all compositions on the scored lines
	FeasibleStartCount int     // number of Options.Starts that satisfy the rules, some after repair
	Diverse            []Found // best compositions that keep the required distance from each other, from best to worst
}

// UnweightedTarget returns the target in which each objective of positive weight has weight 1. Its score Π_k y_k can be
// compared between runs with different weights.
func UnweightedTarget(t *mcmc.Target) (*mcmc.Target, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		if wishes[k].Weight > 0 {
			wishes[k].Weight = 1
		}
	}
	return t.WithObjectives(wishes...)
}

// These constants divide the budget into rounds of walks. Few long walks beat many short walks: halving the number
// of rounds helps more than halving the length of the walks.
const (
	walksPerRound   = 8    // number of walks in a round
	targetWalkLines = 1500 // number of lines of a walk above which a larger budget adds rounds instead
	minRounds       = 3
	maxRounds       = 16
)

// Best searches for the compositions of highest score Π_k y_k^c_k among those to which the target gives density.
//
// The method is iterated annealing. A walk goes from line to line (see [mcmc.Scorer]). Each line divides the joint
// amount of a used ingredient and another ingredient. The walk draws a piece of equal scores from the line with
// probability ∝ score^β. β increases from where random compositions differ to where the last per mille of the score
// counts. The first round of walks starts at the best starts and at random compositions. Each later round starts at
// compositions of the archive, alternately from its best third and from the whole archive. From the fourth round
// on, one walk of each round starts anew at a random seed. The walks of one round are independent, so they can run
// at the same time. Half of the budget goes into diverse compositions, if the options ask for them.
//
// Best fails with an error that wraps [mcmc.ErrNoStart] if it finds no composition of positive score to start from.
func Best(ctx context.Context, t *mcmc.Target, o Options) (*Result, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	s := &searcher{target: t, options: o, archive: newArchive(o.Niche, maxNiches)}
	if err := s.prepareSeeds(ctx); err != nil {
		return nil, err
	}
	left := int64(o.Evaluations) - s.evaluations
	if o.DiverseCount > 0 {
		left /= 2
	}
	rounds := min(max(int(left)/(walksPerRound*targetWalkLines), minRounds), maxRounds)
	each := max(int(left)/(walksPerRound*rounds), 1)
	for round := range rounds {
		if err := s.runRound(ctx, round, each); err != nil {
			return nil, err
		}
	}
	ideas, err := s.findDiverse(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{s.archive, s.evaluations, s.compositions, s.feasibleStartCount, ideas}, nil
}

// runRound makes the walks of one round in parallel and merges their results in a fixed order.
func (s *searcher) runRound(ctx context.Context, round, each int) error {
	ws := make([]*walker, walksPerRound)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.options.workerCount())
	if round > 0 {
		s.updatePartners(s.archive.Best())
	}
	control := mcmc.NewRand(s.options.Seed, "search control", uint64(round))
	for k := range ws {
		start, heat := s.chooseStart(control, round, k)
		g.Go(func() error {
			w, err := newWalker(s, start, mcmc.NewRand(s.options.Seed, "search", uint64(1+round*walksPerRound+k)))
			if err != nil {
				return err
			}
			ws[k] = w
			return w.anneal(ctx, each, heat, endBeta)
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	for _, w := range ws {
		s.archive.merge(w.archive)
		s.addCounts(w)
	}
	return nil
}

// chooseStart returns the composition where walk k of a round starts, and the β at which the walk starts.
func (s *searcher) chooseStart(control *mcmc.Rand, round, k int) (Found, float64) {
	elites := s.archive.Best()
	if round == 0 || len(elites) == 0 {
		if k%2 == 0 {
			return s.seeds[min(k/2, len(s.seeds)-1)], seedStartBeta
		}
		return s.seeds[control.Intn(len(s.seeds))], seedStartBeta
	}
	switch {
	case k == walksPerRound-1 && round >= minRounds: // the last walk explores afresh from any seed
		return s.seeds[control.Intn(len(s.seeds))], seedStartBeta
	case k%2 == 0:
		elites = elites[:(len(elites)+2)/3]
	}
	return elites[control.Intn(len(elites))], archiveStartBeta
}
