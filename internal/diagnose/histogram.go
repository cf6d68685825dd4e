package diagnose

import "math"

// A Histogram counts how often one chain has each of the values 0..values−1 of an integer, such as the number of
// ingredients used. A Histogram is a [Presence] in which each draw uses one value. From the Histograms of all
// chains, [Shares] computes the fraction of draws with each value, with standard errors.
type Histogram struct{ presence *Presence }

// NewHistogram returns an empty Histogram of the values 0..values−1, for one chain. The parameter chains is the
// number of chains of the run: if there are many chains, each Histogram uses less memory for the standard error.
func NewHistogram(values, chains int) *Histogram {
	return &Histogram{NewPresence(values, chains)}
}

// Add appends a draw. Add panics if the value is out of range.
func (h *Histogram) Add(value int) {
	h.presence.Next()
	h.presence.Add(value, 1)
}

// Shares computes the fraction of draws with each value, and the standard error of each fraction, from the
// Histograms of all chains. Shares returns the errors of [Inclusions].
func Shares(chains []*Histogram) ([]Proportion, error) {
	presences := make([]*Presence, len(chains))
	for c, h := range chains {
		presences[c] = h.presence
	}
	inclusions, err := Inclusions(presences)
	if err != nil {
		return nil, err
	}
	shares := make([]Proportion, len(inclusions))
	for i, x := range inclusions {
		shares[i] = x.Proportion
	}
	return shares, nil
}

// TotalVariation returns the total variation distance ½ Σ_n |p_n − q_n| of two distributions on the numbers 0, 1,
// 2, ... Item n of p and of q is the probability of n. Missing items of the shorter slice count as 0.
func TotalVariation(p, q []float64) float64 {
	if len(p) < len(q) {
		p, q = q, p
	}
	var sum float64
	for n, x := range p {
		if n < len(q) {
			x -= q[n]
		}
		sum += math.Abs(x)
	}
	return float64(sum / 2)
}

// ExpectedTotalVariation returns the total variation distance to be expected between a target distribution and
// the shares of draws that follow the target, given the standard errors of the shares:
//
//	½ Σ_n min(√(2/π) σ_n, 2 p_n (1 − p_n)),
//
// where p_n is the target probability of n and σ_n is the standard error (MCSE) of the share of n. The first term
// is the mean of |e| for a normal error e with standard deviation σ_n. Errors of different n depend on each
// other, which does not matter to a sum of means. The second term is the largest mean that |share − p_n| can
// have, which is the mean for a single draw. The second term bounds rare n, whose error is not normal. The second
// term also stands in for an n whose σ_n is unknown, because all draws or no draws had the value n.
//
// A distance well above the expected distance means that the chain does not follow the target. The spread of the
// distance over chains tells how far above is well above.
func ExpectedTotalVariation(target []float64, shares []Proportion) float64 {
	var sum float64
	for n := range max(len(target), len(shares)) {
		var p float64
		if n < len(target) {
			p = target[n]
		}
		most := float64(2 * p * (1 - p))
		if n < len(shares) && shares[n].Err == nil {
			most = min(most, math.Sqrt(2/math.Pi)*shares[n].MCSE)
		}
		sum += most
	}
	return float64(sum / 2)
}
