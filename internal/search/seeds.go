package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"kir/internal/browsersched"
	"kir/mcmc"
)

// randomSeedCount is the greatest number of random compositions from which a search starts.
const randomSeedCount = 64

// prepareSeeds scores the starts and random compositions, sorts them as seeds, and computes the standard deviation
// of the scores.
func (s *searcher) prepareSeeds(ctx context.Context) error {
	s.limits = newAmountLimits(s.target, s.options.Least, s.options.Most)
	for _, x := range s.options.Starts {
		if err := browsersched.Err(ctx); err != nil {
			return err
		}
		x, err := withDefaultConditions(s.target, x)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		y, ok := s.limits.repairAmounts(x)
		if !ok {
			continue
		}
		if ok, err := s.addSeed(y); err != nil {
			return err
		} else if ok {
			s.feasibleStartCount++
		}
	}
	if err := s.addRandomSeeds(ctx); err != nil {
		return err
	}
	random := len(s.seeds)
	for _, f := range s.options.FeasibleStarts {
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
	s.scoreSD = max(standardDeviation(scores), 1e-3)
	sortByScore(s.seeds)
	s.updatePartners(s.seeds)
	return nil
}

// withDefaultConditions returns x with a value for each condition. If x has no values, as a known recipe may, each
// condition gets its likeliest value.
func withDefaultConditions(t *mcmc.Target, x *mcmc.Composition) (*mcmc.Composition, error) {
	if x.Conditions() == len(t.Space().Conditions()) {
		return x, nil
	}
	return t.Space().Composition(x.Parts(), nil)
}

// addRandomSeeds adds random compositions from the sparsity law to the seeds. If no random composition satisfies
// the rules with a positive score, and there is no other seed, addRandomSeeds searches for one, as a chain does for
// its start.
func (s *searcher) addRandomSeeds(ctx context.Context) error {
	r := mcmc.NewRand(s.options.Seed, "search", 0)
	prior := mcmc.NewPrior(s.target)
	for range min(randomSeedCount, max(8, s.options.Evaluations/20)) {
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
		if y, ok := s.limits.repairAmounts(x); ok {
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

// addSeed scores a composition and adds it to the seeds. kept is false if the target gives the composition no
// density.
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
	if s.limits.allowsAllAmounts(x) && !s.refusesIngredients(f.Parts) {
		s.archive.Offer(f.Parts, f.Conditions, score)
	}
	return true, nil
}

// updatePartners makes walks prefer the ingredients of the best third of a list of compositions that is sorted from
// best to worst. The weight of an ingredient is the number of its occurrences.
func (s *searcher) updatePartners(list []Found) {
	s.partnerPool = s.partnerPool[:0]
	for _, f := range list[:(len(list)+2)/3] {
		for _, p := range f.Parts {
			if s.limits.maxAmounts[p.Ingredient] > 0 {
				s.partnerPool = append(s.partnerPool, int32(p.Ingredient))
			}
		}
	}
}

// standardDeviation returns the standard deviation of v, 0 for fewer than two numbers.
func standardDeviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, squares := mean(v), 0.0
	for _, x := range v {
		squares += float64((x - m) * (x - m))
	}
	return math.Sqrt(squares / float64(len(v)-1))
}

// mean returns the mean of one or more numbers. If all numbers are equal, it returns exactly this number.
func mean(v []float64) float64 {
	beyond := 0.0
	for _, x := range v {
		beyond += x - v[0]
	}
	return v[0] + beyond/float64(len(v))
}
