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

// prepareSeeds finds the compositions from which the search starts: the given starts and random compositions.
// It scores and sorts them, and computes the standard deviation of their log scores.
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
	random := len(s.startCandidates)
	for _, f := range s.options.FeasibleStarts {
		x, err := s.target.Space().Composition(f.Parts, f.Conditions)
		if err != nil {
			return err
		}
		if _, err := s.addSeed(x); err != nil {
			return err
		}
	}
	scores := make([]float64, max(random, min(1, len(s.startCandidates))))
	for k, f := range s.startCandidates[:len(scores)] {
		scores[k] = f.LogScore
	}
	s.scoreSD = max(standardDeviation(scores), 1e-3)
	sortByScore(s.startCandidates)
	s.updatePartners(s.startCandidates)
	return nil
}

// withDefaultConditions returns a composition like x with a value for each condition. If x has no values, as a
// known recipe may, each condition gets its likeliest value.
func withDefaultConditions(t *mcmc.Target, x *mcmc.Composition) (*mcmc.Composition, error) {
	if x.Conditions() == len(t.Space().Conditions()) {
		return x, nil
	}
	return t.Space().Composition(x.Parts(), nil)
}

// addRandomSeeds adds random compositions, drawn without regard to the objectives, to the compositions from
// which the search starts. If no random composition satisfies the rules with a positive score, and there is no
// other start, addRandomSeeds searches for one, as a chain does for its start.
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
	if len(s.startCandidates) > 0 {
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

// addSeed scores a composition and adds it to the compositions from which the search starts. kept is false if
// the composition violates a rule or has score 0.
func (s *searcher) addSeed(x *mcmc.Composition) (kept bool, err error) {
	if !s.limits.allowsIngredientCount(x.UsedCount()) {
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
	s.startCandidates = append(s.startCandidates, f)
	if s.limits.allowsAllAmounts(x) && !s.refusesIngredients(f.Parts) {
		s.archive.Offer(f.Parts, f.Conditions, score)
	}
	return true, nil
}

// updatePartners makes steps prefer the ingredients of good compositions. It takes the best third of a list
// that is sorted from best to worst. The weight of an ingredient is the number of these compositions that use
// it.
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
