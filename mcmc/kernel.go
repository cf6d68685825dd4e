package mcmc

import "fmt"

// A Kernel is a Markov chain's transition: it moves a state so that, if the
// state was distributed as the target, it still is.
//
// A kernel holds what follows from its target alone, so that one kernel serves
// any number of chains at once. What belongs to a chain is in the [State] and
// the [Rand].
//
// A kernel of one's own is best made of [NewMetropolis]. One that tunes itself
// implements [Learner] too. Chains of a kernel are made by [NewChain], and
// streamed with [SamplerOf].
type Kernel interface {
	// Advance makes iterations in place and adds what happened to the tally.
	// The state must have positive density.
	Advance(r *Rand, x *State, iterations int, tally *Tally) error
}

// A Learner is a kernel that tunes itself in warm-up. What it learns of a chain
// it keeps in the chain's state; see [State.Learnt].
type Learner interface {
	Kernel
	// Warm makes iterations that may change how later ones are made. While it
	// does, a chain need not leave the target as it is.
	Warm(r *Rand, x *State, iterations int, tally *Tally) error
	// EndWarmup fixes what Warm has learnt: Advance then leaves the target as
	// it is. Warm may not have been called before.
	EndWarmup(x *State)
}

// kernelError says which kernel failed.
func kernelError(kernel string, err error) error { return fmt.Errorf("%s: %w", kernel, err) }
