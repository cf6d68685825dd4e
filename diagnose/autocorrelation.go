package diagnose

import "math"

// Autocorrelation returns the autocorrelations of x at the lags 0..maxLag,
//
//	ρ_t = c_t / c_0,  c_t = (1/n) Σ_s (x_s − m)(x_{s+t} − m),
//
// where m is the mean of x, by fast Fourier transform in O(n log n). The divisor
// is n at every lag (as in R's acf, posterior and ArviZ), so that estimates at
// large lags shrink to 0. maxLag is cut down to len(x)−1. It fails with
// ErrNoDraws, ErrNotFinite, ErrConstant or ErrScale.
func Autocorrelation(x []float64, maxLag int) ([]float64, error) {
	var s sample
	if err := s.load([][]float64{x}); err != nil {
		return nil, err
	}
	if s.constant() {
		return nil, ErrConstant
	}
	m := momentsOf(s.flat)
	if m.squares == 0 || math.IsInf(m.squares, 0) || math.IsNaN(m.squares) {
		return nil, ErrScale
	}
	s.dense.reset([][]float64{s.flat}, []moments{m})
	rho := make([]float64, max(0, min(maxLag, len(x)-1))+1)
	s.dense.transform(len(rho))
	for t := range rho {
		rho[t] = s.dense.lags[t] / s.dense.lags[0]
	}
	return rho, nil
}
