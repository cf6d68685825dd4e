package mcmc

import "math"

// A Ladder holds the statistics of a tempered chain since warm-up.
type Ladder struct {
	Scans int64

	// Learnt is the second leg, from the law that warm-up has learnt to the same β = 1. It is nil
	// where that leg did not pay. All other fields describe the first leg alone.
	Learnt *Ladder

	// Rungs are the replicas' places, from β = 0 to β = 1, without the peaks.
	Rungs []Rung

	// Barrier is Λ = Σ rejection rates: the communication barrier.
	Barrier float64

	// Restarts counts how often a replica that came from β = 0 reached β = 1,
	// and RoundTrips those that had been at β = 1 before.
	Restarts, RoundTrips int64

	// LogZ is the log of the mean of Π_k y_k^c_k over random compositions of the sparsity law, and
	// LogZError its standard error. Both are NaN where the draws do not determine them.
	//
	// The estimate sums Bennett's (1976) estimates of log(Z_{r+1}/Z_r) over the steps. The error
	// comes from the means of 32 to 63 batches of scans, to first order. It takes all steps of a
	// batch together, since replicas that swap depend on each other.
	LogZ, LogZError float64
}

// A Rung is one β of a ladder.
type Rung struct {
	Beta float64

	// Rejected is the rate at which swaps with the next rung are rejected; the last rung has no
	// next one. Barrier is Λ(β), the sum of these rates over the rungs below.
	Rejected, Barrier float64

	// MeanLogScore is the mean of V = Σ_k c_k·log y_k over the scans where V is finite. Forbidden
	// is the share of scans where V is −Inf, which only β = 0 allows.
	MeanLogScore, Forbidden float64
}

// Best returns the leg whose log Z has the smaller standard error.
func (l *Ladder) Best() *Ladder {
	if l.Learnt != nil && l.Learnt.LogZError < l.LogZError {
		return l.Learnt
	}
	return l
}

// PoolLogZ returns the mean of the log Z of the ladders' best legs and its standard error. The
// error is the larger of two: the one that follows from the legs' own errors, and the one that
// follows from the spread between them.
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
