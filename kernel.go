package kir

import "fmt"

// A Kernel is a Markov chain's transition: it moves a state so that, if the
// state was distributed as the target, it still is.
//
// A kernel holds what follows from its target alone, so that one kernel serves
// any number of chains at once. What belongs to a chain is in the [State] and
// the [Rand].
type Kernel interface {
	// Advance makes iterations in place and adds what happened to the tally.
	// The state must have positive density.
	Advance(r *Rand, x *State, iterations int, tally *Tally) error
}

// An outcome is what became of a move.
type outcome int8

const (
	rejected outcome = iota
	stayed           // accepted, and the composition is the same
	updated
)

// changed is the outcome of an accepted move.
func changed(yes bool) outcome {
	if yes {
		return updated
	}
	return stayed
}

// kernelError says which kernel failed.
func kernelError(kernel string, err error) error { return fmt.Errorf("%s: %w", kernel, err) }

// A learner is a kernel that tunes itself in warm-up. What it learns is in the
// state.
type learner interface {
	// warm makes iterations that may change how later ones are made.
	warm(r *Rand, x *State, iterations int, tally *Tally) error
	// settle ends that.
	settle(x *State)
}
