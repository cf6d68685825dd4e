package kir

import (
	"fmt"
	"math"
)

// Tempered is non-reversible parallel tempering (Syed, Bouchard-Côté,
// Deligiannidis and Doucet 2022, "Non-reversible parallel tempering: a
// scalable highly parallel MCMC scheme").
//
// A chain is a ladder of replicas 0 = β_0 < β_1 < … < β_R = 1, of which
// replica r follows the target with its properties raised to β_r. At β = 0 it
// is drawn independently as [Exact] draws; all others move as [Balanced]
// does. One iteration is one scan: every replica moves, and then neighbours
// may swap places, (0, 1), (2, 3), … in even scans and (1, 2), (3, 4), … in
// odd ones, each with probability
//
//	min(1, exp((β_{r+1} − β_r)(V(x_r) − V(x_{r+1})))),  V = Σ_k c_k·log y_k.
//
// What the chain hands out is the replica at β = 1. Good regions that are far
// apart are reached by way of β = 0, where nothing is in between. Two further
// replicas, the peaks at β = 3 and 9, belong to the same scheme, and lead to
// the best there is: see [Chain.Search].
//
// Warm-up spaces the ladder so that all swaps are rejected equally often, and
// takes about twice as many steps as the communication barrier Λ = Σ rejection
// rates; see [Chain.Warm]. [Chain.Ladder] reports it, with log Z.
//
// A Tempered moves whole chains, made by [NewChain], and not a lone state.
type Tempered struct {
	target *Target
	within *Balanced
	steps  int       // of the ladder; 0: chosen in warm-up
	moves  int       // of each replica in a scan
	peaks  []float64 // β above 1, rising
}

// mostSteps is how many steps a ladder may have up to β = 1.
const mostSteps = 100

// peakBetas are the β of the peaks. At β the odds of one composition against
// another are those of the target to the power β, and so what is rare at β = 1
// for being a little better only is common there.
func peakBetas() []float64 { return []float64{3, 9} }

// NewTempered returns the kernel, with so many replicas a chain as warm-up
// finds right. It is valid for every target.
func NewTempered(t *Target) (*Tempered, error) {
	within, err := NewBalanced(t)
	if err != nil {
		return nil, err
	}
	return &Tempered{target: t, within: within, moves: scanMoves, peaks: peakBetas()}, nil
}

// NewTemperedReplicas returns the kernel with a given number of replicas from
// β = 0 to β = 1, 2 to 101, and the peaks. Where there are no wishes all β are alike, and there is one.
func NewTemperedReplicas(t *Target, replicas int) (*Tempered, error) {
	if replicas < 2 || replicas > mostSteps+1 {
		return nil, fmt.Errorf("tempered: %d replicas: there must be from 2 to %d", replicas, mostSteps+1)
	}
	k, err := NewTempered(t)
	if err == nil {
		k.steps = replicas - 1
	}
	return k, err
}

// Advance fails: a lone state has no ladder.
func (t *Tempered) Advance(_ *Rand, x *State, _ int, _ *Tally) error {
	if err := x.ready("tempered", t.target); err != nil {
		return err
	}
	return fmt.Errorf("tempered: it moves a chain of several replicas, and not a lone state; use NewChain")
}

// A Ladder is what a tempered chain did since warm-up.
type Ladder struct {
	Scans int64

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

// PoolLogZ returns the mean of the ladders' log Z and its standard error: the
// larger of what the ladders' own errors amount to and of what the spread
// between them does.
func PoolLogZ(ladders ...*Ladder) (logZ, standardError float64) {
	if len(ladders) == 0 {
		return math.NaN(), math.NaN()
	}
	c := float64(len(ladders))
	within := 0.0
	for _, l := range ladders {
		logZ += l.LogZ / c
		within += l.LogZError * l.LogZError / (c * c)
	}
	between := 0.0
	for _, l := range ladders {
		between += (l.LogZ - logZ) * (l.LogZ - logZ) / (c * max(c-1, 1))
	}
	return logZ, math.Sqrt(max(within, between))
}
