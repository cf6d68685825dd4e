package diagnose

// quantile returns the quantile at p of all draws. The quantile interpolates linearly between the draws next to
// place 1 + (S−1)p of the sorted order (type 7 of Hyndman and Fan 1996, the default of R and NumPy). The result
// equals R's result to the last bit, because the last bit can decide whether a draw is at most the quantile.
func (s *sample) quantile(p float64) float64 {
	s.sortDraws()
	index := float64(float64(len(s.allDraws)-1)*p) + 1
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
