package diagnose

import (
	"fmt"
	"math"
)

// Quantile returns the quantile at p of all draws, interpolated linearly
// between the draws at the two places next to 1 + (S−1)p (type 7 of Hyndman and
// Fan 1996, the default of R and of NumPy). It fails with ErrNoDraws, ErrRagged,
// ErrNotFinite or ErrProbability.
func Quantile(chains [][]float64, p float64) (float64, error) {
	var s sample
	if err := s.load(chains); err != nil {
		return math.NaN(), err
	}
	if err := checkProbability(p); err != nil {
		return math.NaN(), err
	}
	return s.quantile(p), nil
}

func checkProbability(p float64) error {
	if p >= 0 && p <= 1 {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrProbability, p)
}

// quantile is Quantile for a loaded sample. Its last bit is that of R's
// quantile, since whether a draw is at most the quantile depends on it.
func (s *sample) quantile(p float64) float64 {
	s.rank()
	index := float64(float64(len(s.flat)-1)*p) + 1
	low := int(index)
	x := s.ranking.at(low - 1)
	share := index - float64(low)
	if share == 0 {
		return x
	}
	y := s.ranking.at(low)
	if x == y {
		return x
	}
	return float64((1-share)*x) + float64(share*y)
}
