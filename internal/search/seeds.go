package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kir/internal/browsersched"
	"kir/mcmc"
)

// randomSeeds is the number of random compositions that a search starts from.
const randomSeeds = 64

// prepare scores the starts and random compositions, sorts them as seeds, and measures the spread of scores.
func (s *searcher) prepare(ctx context.Context) error {
	s.limits = newAmountLimits(s.target, s.o.Least, s.o.Most)
	for _, x := range s.o.Starts {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x, err := withConditions(s.target, x)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		y, ok := s.limits.repair(x)
		if !ok {
			continue
		}
		if ok, err := s.addSeed(y); err != nil {
			return err
		} else if ok {
			s.feasible++
		}
	}
	if err := s.seedRandom(ctx); err != nil {
		return err
	}
	random := len(s.seeds)
	for _, f := range s.o.FeasibleStarts {
		x, err := s.target.Space().Composition(f.Parts, f.Conditions)
		if err != nil {
			return err
		}
		if _, err := s.addSeed(x); err != nil {
			return err
		}
	}
	scores := make([]float64, max(random, min(1, len(s.seeds))))
	for k, f := range s.seeds[:len(scores)] {
		scores[k] = f.LogScore
	}
	s.spread = max(deviation(scores), 1e-3)
	sortFound(s.seeds)
	s.learnPartners(s.seeds)
	return nil
}

// withConditions returns x with a value for each condition. A condition without one, as known recipes may have, gets
// its likeliest value.
func withConditions(t *mcmc.Target, x *mcmc.Composition) (*mcmc.Composition, error) {
	if x.Conditions() == len(t.Space().Conditions()) {
		return x, nil
	}
	return t.Space().Composition(x.Parts(), nil)
}

// seedRandom adds random compositions from the sparsity law to the seeds. If none satisfies the rules with a positive
// score, and there is no other seed, it searches for one as a chain does for its start.
func (s *searcher) seedRandom(ctx context.Context) error {
	r := mcmc.NewRand(s.o.Seed, "search", 0)
	prior := mcmc.NewPrior(s.target)
	for range min(randomSeeds, max(8, s.o.Evaluations/20)) {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x, err := prior.Draw(r)
		if errors.Is(err, mcmc.ErrNoStart) {
			break
		}
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		if y, ok := s.limits.repair(x); ok {
			x = y
		}
		if _, err := s.addSeed(x); err != nil {
			return err
		}
	}
	if len(s.seeds) > 0 {
		return nil
	}
	x, tries, err := mcmc.StartState(s.target, r)
	s.evaluations += int64(tries)
	s.compositions += int64(tries)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	_, err = s.addSeed(x.Composition)
	return err
}

// addSeed scores a composition and adds it to the seeds. kept is false if the target gives it no density.
func (s *searcher) addSeed(x *mcmc.Composition) (kept bool, err error) {
	if !s.limits.allowsSize(x.Used()) {
		return false, nil
	}
	score, err := s.target.LogScore(x)
	if err != nil {
		return false, fmt.Errorf("search: %w", err)
	}
	s.evaluations++
	s.compositions++
	if math.IsInf(score, -1) {
		return false, nil
	}
	f := Found{x.Parts(), x.AppendConditions(nil), score}
	s.seeds = append(s.seeds, f)
	if s.limits.allowsAll(x) && !s.refuses(f.Parts) {
		s.archive.Offer(f.Parts, f.Conditions, score)
	}
	return true, nil
}

// learnPartners makes walks prefer the ingredients of the best third of a list that is sorted from best to worst. An
// ingredient's weight is the number of its occurrences.
func (s *searcher) learnPartners(list []Found) {
	s.partners = s.partners[:0]
	for _, f := range list[:(len(list)+2)/3] {
		for _, p := range f.Parts {
			if s.limits.most[p.Ingredient] > 0 {
				s.partners = append(s.partners, int32(p.Ingredient))
			}
		}
	}
}

// deviation returns the standard deviation, 0 for fewer than two numbers.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, squares := mean(v), 0.0
	for _, x := range v {
		squares += float64((x - m) * (x - m))
	}
	return math.Sqrt(squares / float64(len(v)-1))
}

// mean returns the mean of one or more numbers. If all are equal, it returns that number exactly.
func mean(v []float64) float64 {
	beyond := 0.0
	for _, x := range v {
		beyond += x - v[0]
	}
	return v[0] + beyond/float64(len(v))
}
