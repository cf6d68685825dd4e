package diagnose

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// MCSEMean returns the Monte Carlo standard error of the mean of the draws in all chains; see MCSEMean in
// [Summary].
func MCSEMean(chains [][]float64) (float64, error) {
	var s sample
	if err := s.loadChains(chains); err != nil {
		return math.NaN(), err
	}
	ess, err := s.essMean()
	if err != nil {
		return math.NaN(), err
	}
	sd, err := s.sd()
	return sd / math.Sqrt(ess), err
}

// mcseQuantile returns the Monte Carlo standard error of the quantile at p, whose effective sample size is ess
// (Vehtari et al. 2021, section 4.4). Let a and b be the quantiles of Beta(ESS·p + 1, ESS·(1−p) + 1) at
// 0.1586553 and 0.8413447, one standard error to either side under a normal distribution. The error is half the
// distance between the draws at the fractions a and b of the sorted draws.
//
// The error is 0 if both draws are equal, as often with integers: another run would most likely give the same
// quantile. The stated error in a [Summary], which [sample.statedErrorOfQuantile] computes, looks further out.
func (s *sample) mcseQuantile(p, ess float64) float64 {
	s.sortDraws()
	total := len(s.allDraws)
	a, b := float64(ess*p)+1, float64(ess*(1-p))+1
	low := int(portable.BetaQuantile(a, b, 0.1586553) * float64(total))
	high := int(math.Ceil(portable.BetaQuantile(a, b, 0.8413447) * float64(total)))
	return float64((s.ranking.at(min(high, total)-1) - s.ranking.at(max(low, 1)-1)) / 2)
}

// mcseSD returns √((m₄ − m₂²) / (4 m₂ ESS)), the standard error of the standard deviation. m₂ and m₄ are the
// second and fourth central moments, and ESS is the effective sample size of (x − mean)². The R package
// posterior uses the same formula. ArviZ uses the effective sample size of x instead, on which the variance of
// m₂ does not depend. For an AR(1) chain with coefficient φ, x has the autocorrelations φᵗ, but the square of x
// has φ²ᵗ.
func (s *sample) mcseSD() (float64, error) {
	if err := s.checkDraws(minDrawsESS); err != nil {
		return math.NaN(), err
	}
	m, err := s.mean()
	if err != nil {
		return math.NaN(), err
	}
	s.essValues = resize(s.essValues, len(s.allDraws))
	least, most := math.Inf(1), 0.0
	for i, x := range s.allDraws {
		d := float64((x - m) * (x - m))
		s.essValues[i] = d
		least, most = math.Min(least, d), math.Max(most, d)
	}
	if most == 0 || math.IsInf(most, 0) {
		return math.NaN(), ErrScale
	}
	// The mean of two values and the squares are rounded. Differences of this size are rounding errors, not
	// differences of draws.
	if most-least <= 1e-13*most {
		return math.NaN(), fmt.Errorf("%w: or rather, their squared distances from the mean are", ErrConstant)
	}
	ess, err := s.ess(s.essValues)
	if err != nil {
		return math.NaN(), err
	}
	squares := momentsOf(s.essValues)
	v := squares.squaredDeviations / float64(squares.count) / ess / (4 * squares.mean)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return math.NaN(), ErrScale
	}
	return math.Sqrt(v), nil
}
