package mcmc

import "math"

// LearntESS estimates how many independent states the memory of each chain of one target rests on,
// while warm-up learns. It returns NaN for fewer than two chains, and for kernels that learn from
// no states.
//
// It compares the differences between chains with those between states. Let p_ci be the share of
// the states met by chain c that use ingredient i, p_i the mean over chains and s²_i the variance
// between them. If each chain rests on m independent states, s²_i is p_i(1−p_i)/m on average; so m
// is Σ_i p_i(1−p_i) / Σ_i s²_i. LearntESS does the same with the amounts and returns the smaller
// estimate. Chains in different regions differ much, so the estimate is small.
func LearntESS(chains []*Chain) float64 {
	if len(chains) < 2 {
		return math.NaN()
	}
	var used, amounts []*moments
	for _, c := range chains {
		x := c.mover.state()
		if m := x.memory; m == nil || len(m.met.sizes)+len(m.sizes) == 0 {
			return math.NaN()
		}
		u, a := x.memory.moments(x.target.space.ingredients)
		used, amounts = append(used, u), append(amounts, a)
	}
	return min(stateChainRatio(used), stateChainRatio(amounts))
}

// moments are, by ingredient, the mean over states of a number, and the mean of its square.
type moments struct{ mean, square []float64 }

// moments returns the moments of whether each of n ingredients is used, and of its amount, over the
// states met in this round of warm-up and the last.
func (m *memory) moments(n int) (used, amounts *moments) {
	counts, sums, squares := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, met := range []*states{&m.states, &m.met} {
		for k, i := range met.list {
			amount := float64(met.amounts[k])
			counts[i]++
			sums[i] += amount
			squares[i] += float64(amount * amount)
		}
	}
	states := float64(len(m.sizes) + len(m.met.sizes))
	for i := range n {
		counts[i] /= states
		sums[i] /= states
		squares[i] /= states
	}
	return &moments{counts, counts}, &moments{sums, squares} // counts twice: 0 and 1 equal their squares
}

// stateChainRatio returns the variance of states over that of chains, +Inf where all chains agree.
func stateChainRatio(chains []*moments) float64 {
	within, between := 0.0, 0.0
	for i := range chains[0].mean {
		mean, square := 0.0, 0.0
		for _, c := range chains {
			mean += c.mean[i]
			square += c.square[i]
		}
		mean /= float64(len(chains))
		within += square/float64(len(chains)) - float64(mean*mean)
		for _, c := range chains {
			d := c.mean[i] - mean
			between += float64(d*d) / float64(len(chains)-1)
		}
	}
	if between == 0 {
		return math.Inf(1)
	}
	return within / between
}
