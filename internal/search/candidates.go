package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
)

// diverseWalks is how many walks look for an idea.
const diverseWalks = 2

// findDiverse looks for the best compositions that are apart from each other, one after
// another: the best of what was found, from there a walk that keeps apart from
// the ideas before, and so on. The more of them there are the worse they get;
// that the walks begin at the best of the archive and the seeds that is left is what
// keeps it slow.
func (s *searcher) findDiverse(ctx context.Context) ([]Found, error) {
	if s.o.Diverse == 0 {
		return nil, nil
	}
	left := int64(s.o.Evaluations) - s.evaluations
	each := max(int(left)/(s.o.Diverse*diverseWalks), 1)
	s.learn(s.archive.Best())
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
				w.diversity = &diversityFilter{s.o.Distance.Clone(), chosen, s.o.Apart, Found{LogScore: math.Inf(-1)}}
				if !s.refuses(starts[k].Parts) {
					w.diversity.best = Found{slices.Clone(starts[k].Parts), starts[k].LogScore}
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

// admissible returns the best of the archive, and of the seeds whose amounts are
// allowed, that are apart from what was chosen and, if there is something to choose from,
// from each other.
func (s *searcher) admissible(chosen []Found) []Found {
	var starts []Found
	a := &diversityFilter{s.o.Distance, slices.Clone(chosen), s.o.Apart, Found{}}
	for _, f := range s.diverseStarts() {
		if !a.allows(f.Parts) {
			continue
		}
		starts = append(starts, f)
		if len(starts) == diverseWalks {
			break
		}
		a.from = append(a.from, f)
	}
	return starts
}

// diverseStarts returns what ideas may begin at, the best first. Known recipes are among it
// even where they are not to be offered: what is near them is apart from the rest.
func (s *searcher) diverseStarts() []Found {
	all := s.archive.Best()
	for _, f := range s.seeds {
		if !slices.ContainsFunc(f.Parts, func(p mcmc.Part) bool { return !s.doses.allows(p.Ingredient, int32(p.Amount)) }) {
			all = append(all, f)
		}
	}
	sortFound(all)
	return all
}
