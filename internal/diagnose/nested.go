package diagnose

import "math"

// NestedRHat returns nested R-hat (Margossian, Hoffman, Sountsov, Riou-Durand,
// Vehtari and Gelman, Nested R-hat: assessing the convergence of Markov chain
// Monte Carlo when running many short chains, Bayesian Analysis 2024) of many
// chains of equal length, from all their draws. The chains are cut, in their
// order, into about √C superchains of about √C chains each. With x̄_k the mean of
// superchain k, B the variance of these means, B̃_k the variance of the means of
// its chains and W̃_k the mean of their variances,
//
//	ν = √(1 + B/W),  W = mean_k (B̃_k + W̃_k).
//
// It is near 1 when superchains agree, and stays meaningful where each chain is
// so short that the noise of its own mean keeps R-hat above 1: that noise is in W.
// Chains of a superchain need not start at one point here, and do not in kir: then
// ν tells how far the means of √C chains differ, and a start that all chains have
// not forgotten shows less than it would otherwise. So it stands beside R-hat, and
// not in its place.
//
// It is NaN for fewer than 4 chains, chains of fewer than 2 draws, chains that
// differ in length, draws that are not finite, and draws that are all equal.
func NestedRHat(series []*Series) float64 {
	if _, err := commonStride(series); err != nil || len(series) < 4 || series[0].n < 2 || allConstant(series) {
		return math.NaN()
	}
	count := int(math.Sqrt(float64(len(series))))
	var means moments // moments of the means of superchains
	within := 0.0
	for k := range count {
		var chains moments // moments of the means of the chains in one superchain
		variance := 0.0
		of := series[k*len(series)/count : (k+1)*len(series)/count]
		for _, s := range of {
			m := s.moments()
			chains = chains.merge(moments{n: 1, mean: m.mean})
			variance += m.squares / float64(m.n-1) / float64(len(of))
		}
		within += (variance + chains.squares/float64(chains.n-1)) / float64(count)
		means = means.merge(moments{n: 1, mean: chains.mean})
	}
	between := means.squares / float64(means.n-1)
	return math.Sqrt(1 + between/within)
}
