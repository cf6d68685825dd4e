package mcmc

import "math"

// A Ladder is what a tempered chain did since warm-up.
type Ladder struct {
	Scans int64

	// Learnt is the second leg, which leads from the law that warm-up has learnt to
	// the same β = 1; nil where that did not pay. All else is of the first leg alone.
	Learnt *Ladder

	// Rungs are the replicas' places, from β = 0 to β = 1, without the peaks.
	Rungs []Rung

	// Barrier is Λ = Σ rejection rates: the communication barrier.
	Barrier float64

	// Restarts counts how often a replica that came from β = 0 reached β = 1,
	// and RoundTrips those that had been at β = 1 before.
	Restarts, RoundTrips int64

	// LogZ is the log of the mean of Π_k y_k^c_k over random compositions of
	// the sparsity law, and LogZError its standard error. NaN where the draws
	// do not tell.
	//
	// The estimate is the sum over the steps of Bennett's (1976) for
	// Z_{r+1}/Z_r. The error is that of the means of 32 to 63 batches of
	// scans, to first order and with all steps of a batch together, since
	// replicas that swap are not independent of each other.
	LogZ, LogZError float64
}

// A Rung is one β of a ladder.
type Rung struct {
	Beta float64

	// Rejected is the rate at which swaps with the next rung are rejected, and
	// Barrier the sum of these rates below: Λ(β). The last rung has no next.
	Rejected, Barrier float64

	// MeanLogScore is the mean of V = Σ_k c_k·log y_k where that is finite, and
	// Forbidden the share of scans where it is −Inf, which only β = 0 allows.
	MeanLogScore, Forbidden float64
}

// Best returns the leg whose log Z has the smaller standard error.
func (l *Ladder) Best() *Ladder {
	if l.Learnt != nil && l.Learnt.LogZError < l.LogZError {
		return l.Learnt
	}
	return l
}

// PoolLogZ returns the mean of the log Z of the ladders' best legs and its standard
// error: the larger of what these legs' own errors amount to and of what the spread
// between them does.
func PoolLogZ(ladders ...*Ladder) (logZ, standardError float64) {
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
