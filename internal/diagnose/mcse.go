package diagnose

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// MCSEMean returns the Monte Carlo standard error of the mean alone; see [Summary].
func MCSEMean(chains [][]float64) (float64, error) {
	var s sample
	if err := s.load(chains); err != nil {
		return math.NaN(), err
	}
	ess, err := s.essMean()
	if err != nil {
		return math.NaN(), err
	}
	sd, err := s.sd()
	return sd / math.Sqrt(ess), err
}

// mcseQuantile returns half the distance between the draws at the shares a and b of
// the sorted draws, where a and b are the quantiles at 0.1586553 and 0.8413447 (one
// standard error on either side of a normal law) of Beta(ESS·p + 1, ESS·(1−p) + 1),
// and ESS is that of the quantile (Vehtari et al. 2021, section 4.4).
//
// It is 0 when both places hold the same value, as happens with integers: then the
// quantile would most likely be the same in another run. The error to state,
// [sample.statedOfQuantile], looks further out.
func (s *sample) mcseQuantile(p, ess float64) float64 {
	s.rank()
	total := len(s.flat)
	a, b := float64(ess*p)+1, float64(ess*(1-p))+1
	low := int(portable.BetaQuantile(a, b, 0.1586553) * float64(total))
	high := int(math.Ceil(portable.BetaQuantile(a, b, 0.8413447) * float64(total)))
	return float64((s.ranking.at(min(high, total)-1) - s.ranking.at(max(low, 1)-1)) / 2)
}

// mcseSD returns √((m₄ − m₂²) / (4 m₂ ESS)), where m₂ and m₄ are the second and
// fourth central moments and ESS is the effective sample size of (x − mean)². So does
// posterior. ArviZ takes the effective sample size of the mean of x, which is not the
// one that the variance of m₂ depends on: for an AR(1) chain with coefficient φ, x has
// the autocorrelations φᵗ and its square φ²ᵗ.
func (s *sample) mcseSD() (float64, error) {
	if err := s.checkDraws(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	m, err := s.mean()
	if err != nil {
		return math.NaN(), err
	}
	s.deviates = grow(s.deviates, len(s.flat))
	least, most := math.Inf(1), 0.0
	for i, x := range s.flat {
		d := float64((x - m) * (x - m))
		s.deviates[i] = d
		least, most = math.Min(least, d), math.Max(most, d)
	}
	if most == 0 || math.IsInf(most, 0) {
		return math.NaN(), ErrScale
	}
	// The mean of two values is rounded, and so are the squares: differences of
	// this size are not in the draws.
	if most-least <= 1e-13*most {
		return math.NaN(), fmt.Errorf("%w: or rather, their squared distances from the mean are", ErrConstant)
	}
	ess, err := s.ess(s.deviates)
	if err != nil {
		return math.NaN(), err
	}
	squares := momentsOf(s.deviates)
	v := squares.squares / float64(squares.n) / ess / (4 * squares.mean)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), ErrScale
	}
	return math.Sqrt(v), nil
}
