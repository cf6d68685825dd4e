package volume

import (
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/portable"
)

// A jointEstimate is the estimate of a size's log share from all measurements. The share is the fraction of the
// countable compositions of that size that keep all rules. For the jackknife, the estimate is also computed
// without each of the populations.
type jointEstimate struct {
	logShare          float64   // log of the share
	withoutPopulation []float64 // item g is the log share computed without population g
}

// joinEstimates combines the shares and the ratios to a jointEstimate for each size. The estimate is nil for a
// size of which neither a share nor a ratio is known.
//
// Neighbouring sizes whose ratio is more precise than their shares form a chain. Along a chain the ratios give
// φ_n, the log share up to a constant c, and
//
//	e^c = mean of share_n·e^{−φ_n} over the sizes n of the chain
//
// This estimate is unbiased if the ratios are exact.
func (m *measurement) joinEstimates() []*jointEstimate {
	joined := make([]*jointEstimate, len(m.sizes))
	for from := 0; from < len(m.sizes); {
		if !m.sizes[from].hasMembers() {
			from++
			continue
		}
		to := from + 1
		for to < len(m.sizes) && m.areNeighbours(to-1) && m.areInOneChain(to-1) {
			to++
		}
		whole := m.chainLogShares(from, to, -1)
		for k, s := range whole {
			joined[from+k] = &jointEstimate{logShare: s, withoutPopulation: make([]float64, populationCount)}
		}
		for g := range populationCount {
			for k, s := range m.chainLogShares(from, to, g) {
				joined[from+k].withoutPopulation[g] = s
			}
		}
		from = to
	}
	return joined
}

// areInOneChain reports whether the sizes at indices k and k+1 belong to one chain (see
// [measurement.joinEstimates]). The sizes do if the ratio that logRatio estimates is at least as precise as the
// ratio of the two annealed shares.
func (m *measurement) areInOneChain(k int) bool {
	without := make([]float64, populationCount)
	for g := range populationCount {
		without[g] = m.logRatio(k, g)
		if math.IsInf(without[g], 0) || math.IsNaN(without[g]) {
			return false
		}
	}
	ratio := jackknifeDifference(without, nil)
	shares := make([]float64, populationCount)
	for g := range populationCount {
		shares[g] = portable.Log(m.meanShare(k+1, g)) - portable.Log(m.meanShare(k, g))
	}
	direct := jackknifeDifference(shares, nil)
	return !(ratio > direct)
}

// meanShare returns the share of the countable compositions that keep all rules, for the size at index k. The
// share is the mean over all populations except the population with index leftOut. A negative index leaves out no
// population.
func (m *measurement) meanShare(k, leftOut int) float64 {
	sum, n := 0.0, 0.0
	for g, one := range m.sizes[k].populations {
		if g != leftOut {
			sum += one.weightProduct
			n++
		}
	}
	return sum / n
}

// logRatio returns the log of the ratio of the shares of the sizes at indices k+1 and k. The share of a size is
// the fraction of its countable compositions that keep all rules. The ratio is estimated from how often splits
// and merges (see [walker.splitKeepsRules]) succeed in all populations except the population with index leftOut.
// The result is NaN or infinite if no split or no merge succeeded.
func (m *measurement) logRatio(k, leftOut int) float64 {
	var splits, splitTries, merges, mergeTries float64
	for g := range populationCount {
		if g == leftOut {
			continue
		}
		// Weighting populations by their shares keeps the estimate unbiased even if moves do not connect all
		// compositions.
		below, above := m.sizes[k].populations[g], m.sizes[k+1].populations[g]
		splits += float64(below.weightProduct * float64(below.splits))
		splitTries += float64(below.weightProduct * float64(below.tries))
		merges += float64(above.weightProduct * float64(above.merges))
		mergeTries += float64(above.weightProduct * float64(above.tries))
	}
	n := float64(m.sizes[k].usedCount)
	ways := portable.Log(float64(len(m.rules.allowedAmounts))-n) + portable.Log(float64(m.rules.total)-n) - portable.Log(n) - portable.Log(n+1)
	return ways + portable.Log(splits/splitTries) - portable.Log(merges/mergeTries) - (m.sizes[k+1].logCount - m.sizes[k].logCount)
}

// chainLogShares returns the log shares of the sizes at indices from..to−1, which form a chain, that is, are
// linked by precise ratios. The population with index leftOut is left out; a negative index leaves out no
// population.
func (m *measurement) chainLogShares(from, to, leftOut int) []float64 {
	phi := make([]float64, to-from)
	for k := from + 1; k < to; k++ {
		phi[k-from] = phi[k-from-1] + m.logRatio(k-1, leftOut)
	}
	top := math.Inf(-1)
	for k := range phi {
		top = max(top, portable.Log(m.meanShare(from+k, leftOut))-phi[k])
	}
	sum := 0.0
	for k := range phi {
		sum += portable.Exp(portable.Log(m.meanShare(from+k, leftOut)) - phi[k] - top)
	}
	c := top + portable.Log(sum/float64(len(phi)))
	for k := range phi {
		phi[k] += c
	}
	return phi
}

// minRelativeError is the least standard error of the log of a share, used if every drawn composition keeps the
// rules or all populations agree. Even then, compositions that break the rules could be as frequent as one in all
// draws.
const minRelativeError = 1. / (populationCount * populationSize)

// jackknifeDifference returns the jackknife standard error of the difference of two estimates (Efron and Stein
// 1981). Item g of a and of b is the estimate computed without population g. A nil slice means that the estimate is
// the constant 0. The standard error is at least [minRelativeError].
func jackknifeDifference(a, b []float64) float64 {
	if a == nil && b == nil {
		return 0
	}
	at := func(g int) float64 {
		d := 0.0
		if a != nil {
			d += a[g]
		}
		if b != nil {
			d -= b[g]
		}
		return d
	}
	differences := make([]float64, populationCount)
	for g := range differences {
		differences[g] = at(g)
	}
	return max(minRelativeError, jackknifeSE(differences))
}

// jackknifeSE returns the jackknife standard error of an estimate. Item g of without is the estimate computed
// without population g.
func jackknifeSE(without []float64) float64 {
	mean := 0.0
	for _, x := range without {
		mean += float64(x / populationCount)
	}
	if diagnose.IsConstant(slices.Min(without), slices.Max(without)) {
		return 0 // a spread that small is rounding error
	}
	squares := 0.0
	for _, x := range without {
		squares += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(squares * (populationCount - 1) / populationCount)
}
