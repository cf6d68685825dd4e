package mcmc

import (
	"errors"
	"fmt"
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
// A second leg of replicas, from the law that warm-up has learnt to the same β = 1, is
// kept where round trips by it take fewer scans (Surjanovic, Syed, Bouchard-Côté and
// Campbell 2022, "Parallel tempering with a variational reference").
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
// A Tempered is no [Kernel], which moves one state, but a [Sampler]: it makes
// chains.
type Tempered struct {
	target *Target
	inner  *Balanced
	steps  int       // number of steps of the ladder; 0 lets warm-up choose it
	moves  int       // number of moves of each replica in a scan
	peaks  []float64 // the β of the peaks, above 1, ascending
}

// maxSteps is the most steps of a ladder up to β = 1.
const maxSteps = 100

// peakBetas are the β of the peaks. At β the odds between two compositions are those of the target
// to the power β. So compositions that are rare at β = 1 because they are only slightly better
// become common there.
func peakBetas() []float64 { return []float64{3, 9} }

// NewTempered returns the sampler. Warm-up chooses the number of replicas of each chain. It is
// valid for every target.
func NewTempered(t *Target) (*Tempered, error) {
	if t == nil {
		return nil, errors.New("tempered: there is no target to make chains of")
	}
	within, err := NewBalanced(t)
	if err != nil {
		return nil, err
	}
	return &Tempered{target: t, inner: within, moves: scanMoves, peaks: peakBetas()}, nil
}

// NewTemperedReplicas returns the sampler with a given number of replicas from β = 0 to β = 1, 2 to
// 101, plus the peaks, and without a second leg. Without objectives all β are alike, and the chain
// has one replica.
func NewTemperedReplicas(t *Target, replicas int) (*Tempered, error) {
	if replicas < 2 || replicas > maxSteps+1 {
		return nil, fmt.Errorf("tempered: %d replicas: there must be from 2 to %d", replicas, maxSteps+1)
	}
	k, err := NewTempered(t)
	if err == nil {
		k.steps = replicas - 1
	}
	return k, err
}

// scanMoves is the number of moves of each replica in a scan.
const scanMoves = 4
