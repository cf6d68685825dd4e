package mcmc

import (
	"errors"
	"fmt"
)

// Tempered is a sampler that makes chains by non-reversible parallel tempering (Syed,
// Bouchard-Côté, Deligiannidis and Doucet 2022, "Non-reversible parallel tempering: a scalable
// highly parallel MCMC scheme").
//
// A chain is a ladder of replicas at 0 = β_0 < β_1 < … < β_R = 1. Replica r samples the target with
// its properties raised to the power β_r. The replica at β = 0 is drawn independently, as [Exact]
// draws. All other replicas move as [Balanced] moves. An iteration is one scan: every replica
// moves, and then neighbours may swap their states. Even scans try the pairs (0, 1), (2, 3), …, and
// odd scans try (1, 2), (3, 4), …. A pair swaps with probability
//
//	min(1, exp((β_{r+1} − β_r)(V(x_r) − V(x_{r+1})))),  V = Σ_k c_k·log y_k.
//
// A second ladder, the learnt leg, leads from a distribution that warm-up has learnt to the same β
// = 1. It is kept if round trips through it take fewer scans (Surjanovic, Syed, Bouchard-Côté and
// Campbell 2022, "Parallel tempering with a variational reference").
//
// The state of the chain is the replica at β = 1. Good regions that are far apart are connected
// through β = 0, where nothing separates them. Two further replicas at β = 3 and 9, the peaks, are
// part of the same scheme and find the best compositions: see [Chain.RecordVisited].
//
// Warm-up spaces the ladder so that all swaps are rejected equally often. The number of steps
// becomes about twice the communication barrier Λ = Σ rejection rates; see [Chain.Warm].
// [Chain.Ladder] reports Λ and log Z.
//
// Tempered is a [Sampler] and not a [Kernel], because a kernel moves one state.
type Tempered struct {
	target         *Target
	replicaKernel  *Balanced // the kernel that moves the replicas
	fixedStepCount int       // number of steps from one β to the next between β = 0 and β = 1; 0 lets warm-up choose the number
	movesPerScan   int       // number of moves that each replica makes in a scan, before neighbours may swap
	peakBetas      []float64 // the β of the replicas above β = 1, in ascending order; they find the best compositions
}

// maxLadderSteps is the greatest number of steps from one β to the next between β = 0 and β = 1 in a
// chain of [Tempered].
const maxLadderSteps = 100

// peakBetas returns the β above 1 at which [Tempered] has replicas. The odds between two
// compositions at β are the odds under the target, raised to the power β. So compositions that are
// only slightly better, and rare at β = 1, become common at a large β.
func peakBetas() []float64 { return []float64{3, 9} }

// NewTempered returns the sampler. Warm-up chooses the number of replicas of each chain. The
// sampler is valid for every target.
func NewTempered(t *Target) (*Tempered, error) {
	if t == nil {
		return nil, errors.New("tempered: there is no target to make chains of")
	}
	within, err := NewBalanced(t)
	if err != nil {
		return nil, err
	}
	return &Tempered{target: t, replicaKernel: within, movesPerScan: defaultMovesPerScan, peakBetas: peakBetas()}, nil
}

// NewTemperedReplicas returns the sampler with a given number of replicas from β = 0 to β = 1,
// between 2 and 101. There are two further replicas above β = 1, and no learnt leg. If the target
// has no objectives, bounds and rules, all β give the same distribution, and a chain has only one
// replica.
func NewTemperedReplicas(t *Target, replicas int) (*Tempered, error) {
	if replicas < 2 || replicas > maxLadderSteps+1 {
		return nil, fmt.Errorf("tempered: %d replicas: there must be from 2 to %d", replicas, maxLadderSteps+1)
	}
	k, err := NewTempered(t)
	if err == nil {
		k.fixedStepCount = replicas - 1
	}
	return k, err
}

// defaultMovesPerScan is the number of moves that each replica makes in a scan.
const defaultMovesPerScan = 4
