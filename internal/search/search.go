package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// A Result holds the result of [Best].
type Result struct {
	Archive            *Archive
	Evaluations        int64   // number of lines (see mcmc.Scorer) and single compositions scored
	Compositions       int64   // number of compositions scored: all compositions on the scored lines
	FeasibleStartCount int     // number of Options.Starts from which the search could start, because they satisfied the rules or could be repaired
	Diverse            []Found // best compositions that have at least Options.MinDistance from each other, from best to worst
}

// UnweightedTarget returns a target like t, but with weight 1 for each objective of positive weight. Its score
// Π_k y_k can be compared between runs with different weights.
func UnweightedTarget(t *mcmc.Target) (*mcmc.Target, error) {
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		if wishes[k].Weight > 0 {
			wishes[k].Weight = 1
		}
	}
	return t.WithObjectives(wishes...)
}

// These constants divide the budget of a search into rounds of walks. A walk is a sequence of random steps from
// one composition to the next. Few long walks beat many short walks: halving the number of rounds helps more
// than halving the length of the walks. A budget that is enough for all rounds gives more walks in a round, so that
// more cores or machines can share it.
const (
	minWalksPerRound = 8    // least number of walks in a round
	maxWalksPerRound = 16   // greatest number of walks in a round
	targetWalkLines  = 1500 // length of a walk, in lines, beyond which a larger budget gives more rounds, and then more walks, instead of longer walks
	minRounds        = 3
	maxRounds        = 16
)

// Best searches for the compositions of highest score Π_k y_k^c_k among those to which the target gives
// density.
//
// The method is iterated annealing. Each step of a walk scores a line: all divisions of the joint amount of a
// used ingredient and another ingredient; see [mcmc.Scorer]. The step draws a range of divisions with equal
// scores, with probability ∝ score^β. During a walk β increases. At first even low scores are likely; at the
// end a difference of a thousandth of the score matters. The first round of walks starts at the best starts and
// at random compositions. Each later round starts at the best compositions found, alternately from the best
// third and from all that were kept. From the fourth round on, one walk of each round starts again at one of
// the first starts. The walks of one round are independent, so they can run at the same time. Half of the
// budget goes into diverse compositions, if the options ask for them.
//
// Best fails with an error that wraps [mcmc.ErrNoStart] if it finds no composition of positive score to start
// from.
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
	s.walksPerRound = min(max(int(left)/(maxRounds*targetWalkLines), minWalksPerRound), maxWalksPerRound)
	rounds := min(max(int(left)/(s.walksPerRound*targetWalkLines), minRounds), maxRounds)
	each := max(int(left)/(s.walksPerRound*rounds), 1)
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

// A walkResult is what a walk has found.
type walkResult struct {
	Compositions []Found // best composition of each niche, in the order of the walk's archive
	DiverseBest  Found   // best composition that the walk's diversity filter recorded; without parts if there is none
	LineCount    int64   // number of lines and single compositions scored
	ScoredSplits int64   // number of compositions on the scored lines
}

// result returns what the walk has found.
func (w *walker) result() *walkResult {
	r := &walkResult{Compositions: w.archive.compositions, LineCount: w.evaluations, ScoredSplits: w.compositions, DiverseBest: Found{LogScore: math.Inf(-1)}}
	if w.diversityFilter != nil {
		r.DiverseBest = w.diversityFilter.bestFound
	}
	return r
}

func (r *walkResult) check(n int) error {
	return errors.Join(checkFound(r.Compositions, n), r.DiverseBest.check(n))
}

// addWalk adds what a walk has found to what the search has found.
func (s *searcher) addWalk(r *walkResult) {
	for _, f := range r.Compositions {
		s.archive.Offer(f.Parts, f.Conditions, f.LogScore)
	}
	s.evaluations += r.LineCount
	s.compositions += r.ScoredSplits
}

// runRound makes all walks of one round in parallel and merges their results. The order of merging is fixed, so
// that the result does not depend on which walk ends first.
func (s *searcher) runRound(ctx context.Context, round, each int) error {
	if round > 0 {
		s.updatePartners(s.archive.Best())
	}
	control := mcmc.NewRand(s.options.Seed, "search control", uint64(round))
	starts, heats := make([]Found, s.walksPerRound), make([]float64, s.walksPerRound)
	for k := range starts {
		starts[k], heats[k] = s.chooseStart(control, round, k)
	}
	name := fmt.Sprintf("%s/round=%02d/walk=", s.options.StepName, round)
	results, err := runSteps(ctx, s.options.Steps, s.options.workerCount(), name, s.target.Space().N(), s.walksPerRound, func(ctx context.Context, k int) (*walkResult, error) {
		w, err := newWalker(s, starts[k], mcmc.NewRand(s.options.Seed, "search", uint64(1+round*s.walksPerRound+k)))
		if err != nil {
			return nil, err
		}
		err = s.options.withSlot(ctx, func() error { return w.anneal(ctx, each, heats[k], endBeta) })
		return w.result(), err
	})
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	for _, r := range results {
		s.addWalk(r)
	}
	return nil
}

// chooseStart returns the composition at which walk k of a round starts. It also returns the β with which the
// walk starts; see [Best].
func (s *searcher) chooseStart(control *mcmc.Rand, round, k int) (Found, float64) {
	elites := s.archive.Best()
	if round == 0 || len(elites) == 0 {
		if k%2 == 0 {
			return s.startCandidates[min(k/2, len(s.startCandidates)-1)], seedStartBeta
		}
		return s.startCandidates[control.Intn(len(s.startCandidates))], seedStartBeta
	}
	switch {
	case k == s.walksPerRound-1 && round >= minRounds: // the last walk explores afresh from any seed
		return s.startCandidates[control.Intn(len(s.startCandidates))], seedStartBeta
	case k%2 == 0:
		elites = elites[:(len(elites)+2)/3]
	}
	return elites[control.Intn(len(elites))], archiveStartBeta
}
