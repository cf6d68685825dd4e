package kir

import (
	"errors"
	"fmt"
	"strings"
)

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

// A Tally counts what iterations did.
type Tally struct {
	Iterations int64
	Accepted   int64 // candidates taken, those equal to the state among them
	Updated    int64 // iterations after which the composition was another

	// Moves counts each move of a kernel that mixes several, in the kernel's
	// order; see [BalancedMoves].
	Moves [moveCount]MoveTally
}

// A MoveTally counts what one kind of move did.
type MoveTally struct {
	Tried, Accepted, Updated int64
}

// Add adds another tally.
func (t *Tally) Add(u Tally) {
	t.Iterations += u.Iterations
	t.Accepted += u.Accepted
	t.Updated += u.Updated
	for k, m := range u.Moves {
		t.Moves[k].add(m)
	}
}

func (t *MoveTally) add(u MoveTally) {
	t.Tried += u.Tried
	t.Accepted += u.Accepted
	t.Updated += u.Updated
}

// ErrReducible is returned for a target whose support a kernel cannot walk
// all over: its draws would not follow the target, however long it ran.
var ErrReducible = errors.New("the chain cannot reach everything that the target allows")

// KernelNames returns the names that [NewKernel] knows, in alphabetical order.
func KernelNames() []string {
	return []string{"accelerated", "balanced", "exact", "gibbs", "naive", "tempered"}
}

// NewKernel returns the kernel of that name for a target. It fails with an
// error that wraps [ErrReducible] where the kernel is not valid.
func NewKernel(name string, t *Target) (Kernel, error) {
	if t == nil {
		return nil, fmt.Errorf("there is no target for the kernel %q", name)
	}
	switch name {
	case "accelerated":
		return NewAccelerated(t)
	case "balanced":
		return NewBalanced(t)
	case "exact":
		return NewExact(t)
	case "gibbs":
		return NewGibbs(t)
	case "naive":
		return NewNaive(t)
	case "tempered":
		return NewTempered(t)
	}
	return nil, fmt.Errorf("there is no kernel %q: there are %s", name, strings.Join(KernelNames(), ", "))
}
