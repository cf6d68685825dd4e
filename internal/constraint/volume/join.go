package volume

import (
	"math"
	"slices"

	"kir/internal/diagnose"
	"kir/internal/portable"
)

// joint is the log share of a size by all measurements together, and without each of the groups.
type joint struct {
	logShare float64
	without  []float64
}

// join combines shares and ratios, by size. It returns nil where neither is known.
//
// Sizes whose ratios are known better than their shares form a chain. Along it the ratios give φ_n,
// the log share up to a constant c, and
//
//	e^c = mean over the chain's n of share_n·e^{−φ_n},
//
// which is unbiased if the ratios are exact.
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

// bridgeHolds reports whether the ratio between the sizes at k and k+1 is known
// better than their shares.
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

// share returns the mean share of the size at index k over all groups but one.
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

// logRatio returns log(share_{n+1}/share_n) of the sizes at k and k+1, from the splits and merges
// of all groups but one. It is NaN or infinite where no split or no merge succeeded.
func (m *measurement) logRatio(k, without int) float64 {
	var splits, splitTries, merges, mergeTries float64
	for g := range groups {
		if g == without {
			continue
		}
		// Each population counts in proportion to its share, so that the estimate is right even
		// where moves do not connect everything.
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

// chain returns the log shares of the sizes from ≤ k < to, without one group.
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

// minRelativeError is the relative standard error of a share if every drawn composition kept the
// rules, or if all groups agree. A composition that breaks the rules is then at most as frequent as
// one among all drawn.
const minRelativeError = 1. / (groups * population)

// jackknife returns the standard error of the difference of two estimates, from their values
// without each of the groups (Efron and Stein 1981). It is at least [minRelativeError]. b may be
// nil, for 0.
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

// spread returns the jackknife's standard error from an estimate's values without each of the
// groups.
func spread(without []float64) float64 {
	mean := 0.0
	for _, x := range without {
		mean += float64(x / groups)
	}
	if diagnose.IsConstant(slices.Min(without), slices.Max(without)) {
		return 0 // what is left is rounding
	}
	squares := 0.0
	for _, x := range without {
		squares += float64((x - mean) * (x - mean))
	}
	return math.Sqrt(squares * (groups - 1) / groups)
}
