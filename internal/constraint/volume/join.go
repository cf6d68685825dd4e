package volume

import (
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/portable"
)

// A joint is the log share of a size from all measurements, and the values without each one of the groups.
type joint struct {
	logShare float64
	without  []float64
}

// join combines the shares and the ratios to a joint for each size. It is nil for a size of which neither is known.
//
// Neighbouring sizes whose ratio is more precise than their shares form a chain. Along a chain the ratios give φ_n,
// the log share up to a constant c, and
//
// \te^c = mean over the chain's n of share_n·e^{−φ_n}
//
// This estimate is unbiased if the ratios are exact.
func (m *measurement) join() []*joint {
	joined := make([]*joint, len(m.sizes))
	for from := 0; from < len(m.sizes); {
		if !m.sizes[from].sampled() {
			from++
			continue
		}
		to := from + 1
		for to < len(m.sizes) && m.areNeighbours(to-1) && m.bridgeHolds(to-1) {
			to++
		}
		whole := m.chain(from, to, -1)
		for k, s := range whole {
			joined[from+k] = &joint{logShare: s, without: make([]float64, groups)}
		}
		for g := range groups {
			for k, s := range m.chain(from, to, g) {
				joined[from+k].without[g] = s
			}
		}
		from = to
	}
	return joined
}

// bridgeHolds reports whether the ratio between the sizes at indices k and k+1 is more precise than their shares.
func (m *measurement) bridgeHolds(k int) bool {
	without := make([]float64, groups)
	for g := range groups {
		without[g] = m.logRatio(k, g)
		if math.IsInf(without[g], 0) || math.IsNaN(without[g]) {
			return false
		}
	}
	ratio := jackknife(without, nil)
	shares := make([]float64, groups)
	for g := range groups {
		shares[g] = portable.Log(m.share(k+1, g)) - portable.Log(m.share(k, g))
	}
	direct := jackknife(shares, nil)
	return !(ratio > direct)
}

// share returns the share of the size at index k, averaged over all groups except number without (−1 for none).
func (m *measurement) share(k, without int) float64 {
	sum, n := 0.0, 0.0
	for g, one := range m.sizes[k].groups {
		if g != without {
			sum += one.mean
			n++
		}
	}
	return sum / n
}

// logRatio returns log(share_{n+1}/share_n) of the sizes at indices k and k+1, from the splits and merges of all
// groups except number without. It is NaN or infinite if no split or no merge succeeded.
func (m *measurement) logRatio(k, without int) float64 {
	var splits, splitTries, merges, mergeTries float64
	for g := range groups {
		if g == without {
			continue
		}
		// Weighting populations by their shares keeps the estimate unbiased even if moves do not connect all
		// compositions.
		below, above := m.sizes[k].groups[g], m.sizes[k+1].groups[g]
		splits += float64(below.mean * float64(below.splits))
		splitTries += float64(below.mean * float64(below.tries))
		merges += float64(above.mean * float64(above.merges))
		mergeTries += float64(above.mean * float64(above.tries))
	}
	n := float64(m.sizes[k].n)
	ways := portable.Log(float64(len(m.rules.amounts))-n) + portable.Log(float64(m.rules.total)-n) - portable.Log(n) - portable.Log(n+1)
	return ways + portable.Log(splits/splitTries) - portable.Log(merges/mergeTries) - (m.sizes[k+1].logCount - m.sizes[k].logCount)
}

// chain returns the log shares of the sizes at indices from..to−1, which form a chain, without one group.
func (m *measurement) chain(from, to, without int) []float64 {
	phi := make([]float64, to-from)
	for k := from + 1; k < to; k++ {
		phi[k-from] = phi[k-from-1] + m.logRatio(k-1, without)
	}
	top := math.Inf(-1)
	for k := range phi {
		top = max(top, portable.Log(m.share(from+k, without))-phi[k])
	}
	sum := 0.0
	for k := range phi {
		sum += portable.Exp(portable.Log(m.share(from+k, without)) - phi[k] - top)
	}
	c := top + portable.Log(sum/float64(len(phi)))
	for k := range phi {
		phi[k] += c
	}
	return phi
}

// minRelativeError is the relative standard error of a share if every drawn composition keeps the rules or all groups
// agree. Compositions that break the rules could then still be as frequent as one in all draws.
const minRelativeError = 1. / (groups * population)

// jackknife returns the standard error of the difference of two estimates, given their values without each one of the
// groups (Efron and Stein 1981). It is at least [minRelativeError]. A nil b means the constant 0.
func jackknife(a, b []float64) float64 {
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
	differences := make([]float64, groups)
	for g := range differences {
		differences[g] = at(g)
	}
	return max(minRelativeError, spread(differences))
}

// spread returns the jackknife standard error of an estimate, given its values without each one of the groups.
func spread(without []float64) float64 {
	mean := 0.0
	for _, x := range without {
		mean += float64(x / groups)
	}
	if diagnose.IsConstant(slices.Min(without), slices.Max(without)) {
		return 0 // a spread that small is rounding error
	}
	squares := 0.0
	for _, x := range without {
		squares += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(squares * (groups - 1) / groups)
}
