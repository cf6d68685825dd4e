package diagnose

import "math"

// NestedRHat returns nested R-hat of many chains of equal length, from all draws of the chains (Margossian,
// Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman, Nested R-hat: assessing the convergence of Markov chain
// Monte Carlo when running many short chains, Bayesian Analysis 2024). The C chains are cut, in their order,
// into about √C superchains of about √C chains each. Let B be the variance of the means of the superchains. For
// superchain k, let B̃_k be the variance of the means of its chains, and W̃_k the mean of the variances of its
// chains. Nested R-hat is
//
//	ν = √(1 + B/W),  W = mean_k (B̃_k + W̃_k).
//
// Nested R-hat is near 1 if superchains agree. Nested R-hat stays meaningful if each chain is so short that the
// noise of the chain's mean keeps R-hat above 1, because W includes that noise. Here the chains of a superchain
// need not start at one point, and in kir the chains do not. Then ν tells how far the means of √C chains differ.
// A common start that the chains have not forgotten shows less in ν than if the chains of a superchain started at
// one point. So nested R-hat is an addition to R-hat and not a replacement.
//
// The result is NaN for fewer than 4 chains, chains of fewer than 2 draws, chains that differ in length, draws
// that are not finite, and draws that are all equal.
func NestedRHat(series []*Series) float64 {
	if _, err := commonStride(series); err != nil || len(series) < 4 || series[0].drawCount < 2 || allConstant(series) {
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
			chains = chains.merge(moments{count: 1, mean: m.mean})
			variance += m.squaredDeviations / float64(m.count-1) / float64(len(of))
		}
		within += (variance + chains.squaredDeviations/float64(chains.count-1)) / float64(count)
		means = means.merge(moments{count: 1, mean: chains.mean})
	}
	between := means.squaredDeviations / float64(means.count-1)
	return math.Sqrt(1 + between/within)
}
