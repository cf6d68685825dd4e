package mcmc

import "math"

// A LadderStatistics holds the statistics of a tempered chain since warm-up.
type LadderStatistics struct {
	Scans int64 // number of scans; in a scan all replicas move, and then neighbours may swap

	// Learnt describes the learnt leg, a second ladder from the law that warm-up has learnt to the
	// same β = 1. It is nil if the learnt leg was not kept. All other fields describe the first
	// ladder alone.
	Learnt *LadderStatistics

	// Rungs describes each β from 0 to 1. The replicas above β = 1 are not included.
	Rungs []Rung

	// Barrier is the communication barrier Λ, the sum of the rejection rates of swaps.
	Barrier float64

	// Restarts counts how often a replica that came from β = 0 reached β = 1. RoundTrips counts
	// those arrivals at β = 1 by replicas that had been at β = 1 before.
	Restarts, RoundTrips int64

	// LogZ is the log of the mean of Π_k y_k^c_k over random compositions of the sparsity law, and
	// LogZError is the standard error of LogZ. Both are NaN if the draws do not determine them.
	//
	// The estimate is the sum of Bennett's (1976) estimates of log(Z_{r+1}/Z_r) over the steps of
	// the ladder. The error is computed to first order from the means of 32 to 63 batches of scans.
	// It combines all steps of a batch, because replicas that swap depend on each other.
	LogZ, LogZError float64
}

// A Rung is one β of a ladder, with its statistics.
type Rung struct {
	Beta float64

	// Rejected is the rate at which swaps with the next rung are rejected. It is 0 for the last
	// rung. Barrier is Λ(β), the sum of the rates Rejected over all lower rungs.
	Rejected, Barrier float64

	// MeanLogScore is the mean of V = Σ_k c_k·log y_k over the scans in which V is finite.
	// Forbidden is the share of scans in which V is −Inf, which is possible only at β = 0.
	MeanLogScore, Forbidden float64
}

// Best returns the first ladder or the learnt leg, whichever has the smaller standard error of log
// Z.
func (l *LadderStatistics) Best() *LadderStatistics {
	if l.Learnt != nil && l.Learnt.LogZError < l.LogZError {
		return l.Learnt
	}
	return l
}

// MeanLogZ returns the mean of log Z over several ladders, and its standard error. From each ladder
// it takes the leg that [LadderStatistics.Best] returns. The standard error is the larger of two estimates:
// one from the standard errors of the legs, and one from the spread of log Z between the ladders.
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
