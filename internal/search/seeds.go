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

// prepare scores the starts and random compositions as seeds.
func (s *searcher) prepare(ctx context.Context) error {
	s.doses = newDoses(s.target, s.o.Least, s.o.Most)
	for _, x := range s.o.Starts {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x, err := withConditions(s.target, x)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		y, ok := s.doses.repair(x)
		if !ok {
			continue
		}
		if ok, err := s.seed(y); err != nil {
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
		if _, err := s.seed(x); err != nil {
			return err
		}
	}
	scores := make([]float64, max(random, min(1, len(s.seeds))))
	for k, f := range s.seeds[:len(scores)] {
		scores[k] = f.LogScore
	}
	s.spread = max(deviation(scores), 1e-3)
	sortFound(s.seeds)
	s.learn(s.seeds)
	return nil
}

// withConditions returns x, with the likeliest value of each condition where it has none: a known
// recipe may lack them.
func withConditions(t *mcmc.Target, x *mcmc.Composition) (*mcmc.Composition, error) {
	if x.Conditions() == len(t.Space().Conditions()) {
		return x, nil
	}
	return t.Space().Composition(x.Parts(), nil)
}

// seedRandom makes seeds of compositions drawn from the sparsity law. If none keeps the rules, or a
// property is 0 at all, and there is no other seed, it searches for one as long as a chain does.
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
		if y, ok := s.doses.repair(x); ok {
			x = y
		}
		if _, err := s.seed(x); err != nil {
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
	_, err = s.seed(x.Composition)
	return err
}

// seed scores a composition and keeps it as a seed if the target gives it density.
func (s *searcher) seed(x *mcmc.Composition) (kept bool, err error) {
	if !s.doses.allowsSize(x.Used()) {
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
	if s.doses.allowsAll(x) && !s.refuses(f.Parts) {
		s.archive.Offer(f.Parts, f.Conditions, score)
	}
	return true, nil
}

// learn makes the walks prefer the ingredients in the upper third of a list, which has the best
// first, as often as they occur there.
func (s *searcher) learn(list []Found) {
	s.partners = s.partners[:0]
	for _, f := range list[:(len(list)+2)/3] {
		for _, p := range f.Parts {
			if s.doses.most[p.Ingredient] > 0 {
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

// mean returns the mean of one or more numbers, without rounding if all are equal.
func mean(v []float64) float64 {
	beyond := 0.0
	for _, x := range v {
		beyond += x - v[0]
	}
	return v[0] + beyond/float64(len(v))
}
