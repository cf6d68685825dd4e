package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// walksPerDiverseComposition is the number of walks that search for one of the diverse compositions; see [Options].
const walksPerDiverseComposition = 2

// findDiverse searches for the best compositions that differ from each other, one after another. For each of
// these compositions it makes several walks. The walks start at the best known compositions that are far enough
// from the compositions already chosen. Hence scores decrease slowly along the list. All of this is one step,
// since each composition depends on those before.
func (s *searcher) findDiverse(ctx context.Context) ([]Found, error) {
	if s.options.DiverseCount == 0 {
		return nil, nil
	}
	r, err := RunStep(ctx, s.options.Steps, s.options.StepName+"/diverse", s.target.Space().N(), s.computeDiverse)
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

func (s *searcher) computeDiverse(ctx context.Context) (*diverseResult, error) {
	left := int64(s.options.Evaluations) - s.evaluations
	each := max(int(left)/(s.options.DiverseCount*walksPerDiverseComposition), 1)
	s.updatePartners(s.archive.Best())
	var chosen []Found
	for len(chosen) < s.options.DiverseCount {
		starts := s.admissibleStarts(chosen)
		if len(starts) == 0 {
			break
		}
		found := make([]*walkResult, min(walksPerDiverseComposition, len(starts)))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(s.options.workerCount())
		for k := range found {
			g.Go(func() error {
				r := mcmc.NewRand(s.options.Seed, "search idea", uint64(len(chosen)*walksPerDiverseComposition+k))
				w, err := newWalker(s, starts[k], r)
				if err != nil {
					return err
				}
				w.diversityFilter = &diversityFilter{s.options.Distance.Clone(), chosen, s.options.MinDistance, Found{LogScore: math.Inf(-1)}}
				if !s.refusesIngredients(starts[k].Parts) {
					w.diversityFilter.bestFound = Found{slices.Clone(starts[k].Parts), slices.Clone(starts[k].Conditions), starts[k].LogScore}
				}
				err = s.options.withSlot(ctx, func() error { return w.anneal(ctx, each, archiveStartBeta, endBeta) })
				found[k] = w.result()
				return err
			})
		}
		if err := g.Wait(); err != nil {
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
// are at least the minimum distance from the chosen compositions and from each other.
func (s *searcher) admissibleStarts(chosen []Found) []Found {
	var starts []Found
	a := &diversityFilter{s.options.Distance, slices.Clone(chosen), s.options.MinDistance, Found{}}
	for _, f := range s.diverseStarts() {
		if !a.isFarEnough(f.Parts) {
			continue
		}
		starts = append(starts, f)
		if len(starts) == walksPerDiverseComposition {
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
