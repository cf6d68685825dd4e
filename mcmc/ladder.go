package mcmc

import "math"

// A LadderStatistics holds the statistics of a chain of [Tempered] since warm-up. Its replicas form
// a ladder from β = 0 to β = 1.
type LadderStatistics struct {
	Scans int64 // number of scans; in a scan all replicas move, and then neighbours may swap

	// Learnt describes the learnt leg, a second ladder to the same β = 1. It starts at a
	// distribution that warm-up has learnt. It is nil if the learnt leg was not kept. All other
	// fields describe the first ladder alone.
	Learnt *LadderStatistics

	// Rungs holds the statistics of each β from 0 to 1. The replicas above β = 1 are not included.
	Rungs []Rung

	// Barrier is the communication barrier Λ, the sum of the rejection rates of all swaps between
	// neighbours.
	Barrier float64

	// Restarts counts how often a replica that came from β = 0 reached β = 1.
	Restarts int64

	// RoundTrips counts the restarts by replicas that had been at β = 1 before they were at β = 0.
	RoundTrips int64

	// LogZ is the log of the mean of Π_k y_k^c_k over random compositions of the sparsity law. It
	// is NaN if the draws do not determine it.
	//
	// The estimate is the sum of Bennett's (1976) estimates of log(Z_{r+1}/Z_r) over the steps of
	// the ladder.
	LogZ float64

	// LogZError is the standard error of LogZ, or NaN if the draws do not determine it.
	//
	// It is computed to first order from the means of 32 to 63 batches of scans. It combines all
	// steps of a batch, because replicas that swap depend on each other.
	LogZError float64
}

// A Rung holds the statistics of one β of a chain of [Tempered]. At β the properties are raised to
// the power β.
type Rung struct {
	Beta float64

	// Rejected is the rate at which swaps with the next greater β are rejected. It is 0 for the
	// last rung.
	Rejected float64

	// Barrier is Λ(β), the sum of Rejected over all smaller β.
	Barrier float64

	// MeanLogScore is the mean of the log score V = Σ_k c_k·log y_k over the scans in which V is
	// finite.
	MeanLogScore float64

	// Forbidden is the share of scans in which V is −Inf, which is possible only at β = 0.
	Forbidden float64
}

// Best returns l or its learnt leg, whichever has the smaller standard error of log Z.
func (l *LadderStatistics) Best() *LadderStatistics {
	if l.Learnt != nil && l.Learnt.LogZError < l.LogZError {
		return l.Learnt
	}
	return l
}

// MeanLogZ returns the mean of log Z over several chains of [Tempered], and its standard error. Of
// each chain it takes the ladder that [LadderStatistics.Best] returns. The standard error is the
// larger of two estimates: one from the standard errors of the chains, and one from the spread of
// log Z between the chains.
func MeanLogZ(ladders ...*LadderStatistics) (logZ, standardError float64) {
	if len(ladders) == 0 {
		return math.NaN(), math.NaN()
	}
	c := float64(len(ladders))
	within := 0.0
	for _, l := range ladders {
		l = l.Best()
		logZ += l.LogZ / c
		within += l.LogZError * l.LogZError / (c * c)
	}
	between := 0.0
	for _, l := range ladders {
		off := l.Best().LogZ - logZ
		between += off * off / (c * max(c-1, 1))
	}
	return logZ, math.Sqrt(max(within, between))
}
