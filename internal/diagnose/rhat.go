package diagnose

import "math"

// rhat returns the rank-normalised split R-hat (Vehtari et al. 2021). It is the larger of rhatBulk, which detects
// chains that differ in location, and rhatFolded, which detects chains that differ in scale.
func (s *sample) rhat() (float64, error) {
	bulk, err := s.rhatBulk()
	if err != nil {
		return math.NaN(), err
	}
	folded, err := s.rhatFolded()
	if err != nil {
		return bulk, nil
	}
	return math.Max(bulk, folded), nil
}

// rhatBulk returns split R-hat of the rank-normalised draws.
func (s *sample) rhatBulk() (float64, error) {
	if err := s.checkDraws(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.rhatOf(s.normalScores())
}

// rhatFolded returns split R-hat of the rank-normalised distances of the draws from
// their median.
func (s *sample) rhatFolded() (float64, error) {
	if err := s.checkDraws(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.rhatOf(s.foldedScores())
}

// rhatOf returns split R-hat of x, one number per draw in the order of s.flat:
//
// \tR = √((n−1 + B/W) / n)
//
// n is the length of a half chain, B is n times the variance of the means of the halves, and W is the mean of their
// variances.
func (s *sample) rhatOf(x []float64) (float64, error) {
	s.moments = momentsOfAll(s.moments, s.splitHalves(x))
	return rhatOfMoments(s.moments)
}

// rhatOfMoments returns R-hat of series of equal length, given their moments.
func rhatOfMoments(series []moments) (float64, error) {
	n := float64(series[0].n)
	var within float64
	for _, m := range series {
		within += m.squares / (n - 1)
	}
	within /= float64(len(series))
	between := float64(n * varianceOfMeans(series))
	if within == 0 && between == 0 {
		return math.NaN(), ErrConstant
	}
	return math.Sqrt((between/within + n - 1) / n), nil
}
