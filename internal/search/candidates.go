package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// diverseWalks is the number of walks for each diverse composition.
const diverseWalks = 2

// findDiverse searches for the best compositions that differ from each other, one after another. The walks for each
// begin at the best compositions so far that are far enough from those already chosen. Scores fall slowly along the
// list, because the walks begin at the best remaining compositions of the archive and the seeds.
func (s *searcher) findDiverse(ctx context.Context) ([]Found, error) {
	if s.o.Diverse == 0 {
		return nil, nil
	}
	left := int64(s.o.Evaluations) - s.evaluations
	each := max(int(left)/(s.o.Diverse*diverseWalks), 1)
	s.learnPartners(s.archive.Best())
	var chosen []Found
	for len(chosen) < s.o.Diverse {
		starts := s.admissible(chosen)
		if len(starts) == 0 {
			break
		}
		found := make([]*walker, min(diverseWalks, len(starts)))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(s.o.workers())
		for k := range found {
			g.Go(func() error {
				r := mcmc.NewRand(s.o.Seed, "search idea", uint64(len(chosen)*diverseWalks+k))
				w, err := newWalker(s, starts[k], r)
				if err != nil {
					return err
				}
				found[k] = w
				w.diversity = &diversityFilter{s.o.Distance.Clone(), chosen, s.o.MinDistance, Found{LogScore: math.Inf(-1)}}
				if !s.refuses(starts[k].Parts) {
					w.diversity.best = Found{slices.Clone(starts[k].Parts), slices.Clone(starts[k].Conditions), starts[k].LogScore}
				}
				return w.anneal(ctx, each, warmest, coldest)
			})
		}
		if err := g.Wait(); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		best := Found{LogScore: math.Inf(-1)}
		for _, w := range found {
			s.archive.merge(w.archive)
			s.count(w)
			if w.diversity.best.LogScore > best.LogScore {
				best = w.diversity.best
			}
		}
		if best.Parts == nil {
			break
		}
		sortParts(best.Parts)
		chosen = append(chosen, best)
	}
	sortFound(chosen)
	return chosen, nil
}

// admissible returns the best compositions of the archive and the seeds that are far enough from those chosen and
// have allowed amounts. It also keeps them apart from each other, if that leaves any.
func (s *searcher) admissible(chosen []Found) []Found {
	var starts []Found
	a := &diversityFilter{s.o.Distance, slices.Clone(chosen), s.o.MinDistance, Found{}}
	for _, f := range s.diverseStarts() {
		if !a.allows(f.Parts) {
			continue
		}
		starts = append(starts, f)
		if len(starts) == diverseWalks {
			break
		}
		a.found = append(a.found, f)
	}
	return starts
}

// diverseStarts returns compositions for walks to start from, the best first. Known recipes are included even if they
// must not be suggested: compositions near them differ from the rest.
func (s *searcher) diverseStarts() []Found {
	all := s.archive.Best()
	for _, f := range s.seeds {
		if !slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !s.limits.allows(p.Ingredient, int32(p.Amount)) }) {
			all = append(all, f)
		}
	}
	sortFound(all)
	return all
}
