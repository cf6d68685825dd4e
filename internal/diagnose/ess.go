package diagnose

import (
	"fmt"
	"math"
)

// essBulk returns the effective sample size of the rank-normalised split chains.
func (s *sample) essBulk() (float64, error) {
	if err := s.checkDraws(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	return s.ess(s.normalScores())
}

// essMean returns the effective sample size (ESS) of the mean, computed on the split chains without ranks. The
// mean of S independent draws has the variance sd²/S; the mean of the S draws of the chains has the variance
// sd²/ESS.
func (s *sample) essMean() (float64, error) {
	if err := s.checkDraws(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	return s.ess(s.allDraws)
}

// ess returns the effective sample size of the mean of x. The slice x has one number for each draw, in the order
// of s.allDraws.
func (s *sample) ess(x []float64) (float64, error) {
	halves := s.splitHalves(x)
	s.halfMoments = momentsOfAll(s.halfMoments, halves)
	s.autocovariances.reset(halves, s.halfMoments)
	return s.geyerESS.ess(s.halfLength, s.halfMoments, &s.autocovariances)
}

// essQuantile returns the effective sample size of the quantile at p, 0 < p < 1. By definition that is the
// effective sample size of the mean of a 0/1 series, which is 1 for each draw that is at most the quantile.
func (s *sample) essQuantile(p float64) (float64, error) {
	if err := s.checkDraws(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	q := s.quantile(p)
	if q >= s.max || IsConstant(q, s.max) {
		return math.NaN(), fmt.Errorf("%w, %v: %.0f %% or more of them", ErrConstantTail, q, 100*(1-p))
	}
	return s.essOfEvent(func(x float64) bool { return x <= q })
}

// essOfEvent returns the effective sample size of the fraction of draws x for which hit(x) is true.
func (s *sample) essOfEvent(hit func(x float64) bool) (float64, error) {
	s.essValues = resize(s.essValues, len(s.allDraws))
	for i, x := range s.allDraws {
		s.essValues[i] = 0
		if hit(x) {
			s.essValues[i] = 1
		}
	}
	return s.ess(s.essValues)
}
