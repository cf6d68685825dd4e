package diagnose

import "math"

// A Histogram counts how often one chain has each of the values 0..values−1 of
// an integer, such as the number of ingredients used. It is a [Presence] in which
// each draw uses one value. [Shares] computes the shares and their errors from the
// Histograms of all chains.
type Histogram struct{ presence *Presence }

// NewHistogram returns an empty Histogram of values 0..values−1, for one of the given number of chains. With many
// chains each keeps less for the standard error.
func NewHistogram(values, chains int) *Histogram {
	return &Histogram{NewPresence(values, chains)}
}

// Add appends a draw. It panics when the value is out of range.
func (h *Histogram) Add(value int) {
	h.presence.Next()
	h.presence.Add(value, 1)
}

// Shares computes the fraction of draws with each value, and its standard error, from the Histograms of all chains.
// It returns the errors of [Inclusions].
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

// TotalVariation returns the total variation distance ½ Σ_n |p_n − q_n| of two laws on 0..len−1. The shorter
// slice counts as 0 beyond its end.
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

// ExpectedTotalVariation returns the total variation distance that is to be
// expected between a target law and the shares of draws that do follow it, given
// the standard errors of the shares:
//
//	½ Σ_n min(√(2/π) σ_n, 2 p_n (1 − p_n)),
//
// where p is the target and σ_n the MCSE of the share of n. The first is the mean
// of |e| for a normal error e with standard deviation σ_n; that errors of
// different n depend on each other does not matter to a sum of means. The second
// is the largest mean that |share − p_n| can have, that of a single draw. It
// bounds rare n, whose error is not normal, and stands in for an n whose σ_n is
// unknown, because all draws or none had it.
//
// A distance well above the expected one means that the chain does not follow
// the target; how far above can be told from the distance's own spread over
// chains.
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
