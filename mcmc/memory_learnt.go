package mcmc

import "math"

// WarmupESS estimates the effective sample size of the states from which each chain has learnt in
// warm-up. All chains must have the same target. It returns NaN for fewer than two chains, and for
// kernels that do not learn from states.
//
// The estimate compares the differences between chains with the differences between states. Let
// p_ci be the share of the states met by chain c that use ingredient i, p_i the mean of p_ci over
// the chains, and s²_i the variance of p_ci over the chains. If each chain has met m independent
// states, s²_i is p_i(1−p_i)/m on average. So m is estimated by Σ_i p_i(1−p_i) / Σ_i s²_i.
// WarmupESS makes the same estimate from the amounts and returns the smaller of the two. If the
// chains are in different regions, the estimate is small.
func WarmupESS(chains []*Chain) float64 {
	if len(chains) < 2 {
		return math.NaN()
	}
	var used, amounts []*ingredientMoments
	for _, c := range chains {
		x := c.mover.state()
		if m := x.memory; m == nil || len(m.metStates.sizes)+len(m.sizes) == 0 {
			return math.NaN()
		}
		u, a := x.memory.metMoments(x.target.space.ingredients)
		used, amounts = append(used, u), append(amounts, a)
	}
	return min(stateToChainVarianceRatio(used), stateToChainVarianceRatio(amounts))
}

// ingredientMoments holds means over states of a number that each state has for each ingredient, such as the
// amount.
type ingredientMoments struct {
	means       []float64 // means[i] is the mean of the number of ingredient i
	meanSquares []float64 // meanSquares[i] is the mean of the square of that number
}

// metMoments returns means over the states met in the current round of warm-up and the round
// before, for each of n ingredients. The result used holds the means of a number that is 1 if a
// state uses the ingredient and 0 otherwise. The result amounts holds the means of the amount.
func (m *warmupMemory) metMoments(n int) (used, amounts *ingredientMoments) {
	counts, sums, squares := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, met := range []*stateList{&m.stateList, &m.metStates} {
		for k, i := range met.ingredients {
			amount := float64(met.amounts[k])
			counts[i]++
			sums[i] += amount
			squares[i] += float64(amount * amount)
		}
	}
	states := float64(len(m.sizes) + len(m.metStates.sizes))
	for i := range n {
		counts[i] /= states
		sums[i] /= states
		squares[i] /= states
	}
	return &ingredientMoments{counts, counts}, &ingredientMoments{sums, squares} // counts twice: 0 and 1 equal their squares
}

// stateToChainVarianceRatio returns the variance between states divided by the variance between the means of
// chains, both summed over the ingredients. It returns +Inf if all chains have the same means.
func stateToChainVarianceRatio(chains []*ingredientMoments) float64 {
	within, between := 0.0, 0.0
	for i := range chains[0].means {
		mean, square := 0.0, 0.0
		for _, c := range chains {
			mean += c.means[i]
			square += c.meanSquares[i]
		}
		mean /= float64(len(chains))
		within += square/float64(len(chains)) - float64(mean*mean)
		for _, c := range chains {
			d := c.means[i] - mean
			between += float64(d*d) / float64(len(chains)-1)
		}
	}
	if between == 0 {
		return math.Inf(1)
	}
	return within / between
}
