package diagnose

import "math"

// rhat returns the rank-normalised split R-hat (Vehtari et al. 2021). The result is the larger of rhatBulk,
// which detects chains that differ in location, and rhatFolded, which detects chains that differ in scale.
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

// rhatBulk returns the split R-hat of the rank-normalised draws.
func (s *sample) rhatBulk() (float64, error) {
	if err := s.checkDraws(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.splitRHat(s.normalScores())
}

// rhatFolded returns the split R-hat of the rank-normalised distances of the draws from the median.
func (s *sample) rhatFolded() (float64, error) {
	if err := s.checkDraws(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.splitRHat(s.foldedScores())
}

// splitRHat returns the split R-hat of x, which has one number for each draw in the order of s.allDraws:
//
//	R = √((n−1 + B/W) / n)
//
// Each chain is split into two halves of n draws. B is n times the variance of the means of the halves, and W is
// the mean of the variances of the halves.
func (s *sample) splitRHat(x []float64) (float64, error) {
	s.halfMoments = momentsOfAll(s.halfMoments, s.splitHalves(x))
	return rhatOfMoments(s.halfMoments)
}

// rhatOfMoments returns R-hat of series of equal length, given the moments of the series.
func rhatOfMoments(series []moments) (float64, error) {
	n := float64(series[0].count)
	var within float64
	for _, m := range series {
		within += m.squaredDeviations / (n - 1)
	}
	within /= float64(len(series))
	between := float64(n * varianceOfMeans(series))
	if within == 0 && between == 0 {
		return math.NaN(), ErrConstant
	}
	return math.Sqrt((between/within + n - 1) / n), nil
}
