package diagnose

import "math"

// RHat returns the rank-normalised split R-hat: the larger of [RHatBulk], which
// sees chains that differ in location, and [RHatFolded], which sees chains that
// differ in scale (Vehtari et al. 2021). It is near 1 when all
// halves of all chains have the same distribution; above 1.01 they should not be
// trusted.
//
// With one chain it compares the chain's two halves, as posterior does; ArviZ
// gives NaN. One chain cannot show that it has missed a region, so a caller
// should say that there was only one.
//
// When every half is constant and the halves differ, it is +Inf. When the folded
// draws are all equal (two values, equally often), there is no scale that could
// differ and it is RHatBulk alone, as in ArviZ; posterior gives NA.
//
// It needs 4 draws in a chain. Errors: ErrNoDraws, ErrRagged, ErrNotFinite,
// ErrFewDraws, ErrConstant.
func RHat(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).rhat)
}

// RHatBulk returns split R-hat of the rank-normalised draws,
//
//	R = √((n−1 + B/W) / n),
//
// where n is the length of a half chain, B is n times the variance of the means
// of the halves, and W the mean of their variances. Errors as for [RHat].
func RHatBulk(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).rhatBulk)
}

// RHatFolded returns split R-hat of the rank-normalised distances of the draws
// from their median. Errors as for [RHat]; ErrConstant also when all these
// distances are equal.
func RHatFolded(chains [][]float64) (float64, error) {
	return figure(chains, (*sample).rhatFolded)
}

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

func (s *sample) rhatBulk() (float64, error) {
	if err := s.ready(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.rhatOf(s.normalScores())
}

func (s *sample) rhatFolded() (float64, error) {
	if err := s.ready(minDrawsRHat); err != nil {
		return math.NaN(), err
	}
	return s.rhatOf(s.foldedScores())
}

// rhatOf returns split R-hat of x, which is laid out as flat.
func (s *sample) rhatOf(x []float64) (float64, error) {
	s.moments = momentsOfAll(s.moments, s.split(x))
	return rhatOfMoments(s.moments)
}

// rhatOfMoments returns R-hat of series that have these moments.
func rhatOfMoments(series []moments) (float64, error) {
	n := float64(series[0].n)
	var within float64
	for _, m := range series {
		within += m.squares / (n - 1)
	}
	within /= float64(len(series))
	between := n * varianceOfMeans(series)
	if within == 0 && between == 0 {
		return math.NaN(), ErrConstant
	}
	return math.Sqrt((between/within + n - 1) / n), nil
}
