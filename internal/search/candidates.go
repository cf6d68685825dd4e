package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// These are the least and the greatest number of walks that search for one of the diverse compositions; see
// [Options]. There are more than the least where they are longer than targetWalkLines.
const (
	minWalksPerDiverse = 2
	maxWalksPerDiverse = 16
)

// minSharedDiverseWalks is the least number of walks that search for one of the diverse compositions of which each is
// a step of the search.
const minSharedDiverseWalks = 8

// findDiverse searches for the best compositions that differ from each other, one after another. For each of
// these compositions it makes several walks. The walks start at the best known compositions that are far enough
// from the compositions already chosen. Hence scores decrease slowly along the list. Unless the walks are long,
// all of this is one step, since each composition depends on those before.
func (s *searcher) findDiverse(ctx context.Context) ([]Found, error) {
	if s.options.DiverseCount == 0 {
		return nil, nil
	}
	lines := max(int(int64(s.options.Evaluations)-s.evaluations)/s.options.DiverseCount, 1)
	walks := min(max(lines/targetWalkLines, minWalksPerDiverse), maxWalksPerDiverse)
	var r *diverseResult
	var err error
	if walks >= minSharedDiverseWalks {
		r, err = s.computeDiverse(ctx, lines, walks, s.options.Steps)
	} else {
		r, err = RunStep(ctx, s.options.Steps, s.options.StepName+"/diverse", s.target.Space().N(), func(ctx context.Context) (*diverseResult, error) {
			return s.computeDiverse(ctx, lines, walks, nil)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.evaluations, s.compositions = r.LineCount, r.ScoredSplits
	s.archive.replace(r.Archive)
	return r.Chosen, nil
}

// A diverseResult is what a search has found in all when it has found diverse compositions.
type diverseResult struct {
	Chosen       []Found // diverse compositions, from best to worst
	Archive      []Found // compositions of the archive, in its order
	LineCount    int64   // number of lines and single compositions scored
	ScoredSplits int64   // number of compositions on the scored lines
}

func (r *diverseResult) check(n int) error {
	return errors.Join(checkFound(r.Chosen, n), checkFound(r.Archive, n))
}

// computeDiverse finds the diverse compositions. For each it scores the given number of lines, in at most the given
// number of walks. The walks are steps of the search unless steps is nil.
func (s *searcher) computeDiverse(ctx context.Context, lines, walks int, steps *Steps) (*diverseResult, error) {
	s.updatePartners(s.archive.Best())
	var chosen []Found
	for len(chosen) < s.options.DiverseCount {
		starts := s.admissibleStarts(chosen, walks)
		if len(starts) == 0 {
			break
		}
		each := max(lines/max(len(starts), minWalksPerDiverse), 1)
		name := fmt.Sprintf("%s/diverse=%02d/walk=", s.options.StepName, len(chosen))
		found, err := runSteps(ctx, steps, s.options.workerCount(), name, s.target.Space().N(), len(starts), func(ctx context.Context, k int) (*walkResult, error) {
			r := mcmc.NewRand(s.options.Seed, "search idea", uint64(len(chosen)*walks+k))
			w, err := newWalker(s, starts[k], r)
			if err != nil {
				return nil, err
			}
			w.diversityFilter = &diversityFilter{s.options.Distance.Clone(), chosen, s.options.MinDistance, Found{LogScore: math.Inf(-1)}}
			if !s.refusesIngredients(starts[k].Parts) {
				w.diversityFilter.bestFound = Found{slices.Clone(starts[k].Parts), slices.Clone(starts[k].Conditions), starts[k].LogScore}
			}
			err = s.options.withSlot(ctx, func() error { return w.anneal(ctx, each, archiveStartBeta, endBeta) })
			return w.result(), err
		})
		if err != nil {
			return nil, err
		}
		best := Found{LogScore: math.Inf(-1)}
		for _, r := range found {
			s.addWalk(r)
			if r.DiverseBest.LogScore > best.LogScore {
				best = r.DiverseBest
			}
		}
		if best.Parts == nil {
			break
		}
		sortByIngredient(best.Parts)
		chosen = append(chosen, best)
	}
	sortByScore(chosen)
	return &diverseResult{chosen, s.archive.compositions, s.evaluations, s.compositions}, nil
}

// admissibleStarts returns the best compositions of the archive and of the start candidates that have allowed amounts. All
// are at least the minimum distance from the chosen compositions and from each other. There are at most the given number.
func (s *searcher) admissibleStarts(chosen []Found, most int) []Found {
	var starts []Found
	a := &diversityFilter{s.options.Distance, slices.Clone(chosen), s.options.MinDistance, Found{}}
	for _, f := range s.diverseStarts() {
		if !a.isFarEnough(f.Parts) {
			continue
		}
		starts = append(starts, f)
		if len(starts) == most {
			break
		}
		a.avoidedCompositions = append(a.avoidedCompositions, f)
	}
	return starts
}

// diverseStarts returns compositions at which walks may start, from best to worst. Known recipes are included
// although they may not be suggested, because compositions near them are good starts and differ from the
// others.
func (s *searcher) diverseStarts() []Found {
	all := s.archive.Best()
	for _, f := range s.startCandidates {
		if !slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !s.limits.allowsAmount(p.Ingredient, int32(p.Amount)) }) {
			all = append(all, f)
		}
	}
	sortByScore(all)
	return all
}
