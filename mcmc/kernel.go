package mcmc

import (
	"errors"
	"fmt"
	"strings"
)

// A Kernel is the transition of a Markov chain that leaves a target invariant. That is, if a state
// is distributed as the target, the state after a move is distributed as the target too.
//
// A kernel holds no data of a chain, so one kernel serves any number of chains at the same time.
// The data of a chain are in its [State] and its [Rand].
//
// To write your own kernel, start from [NewMetropolis]. A kernel that tunes itself also implements
// [Learner]. [NewChain] makes a chain from a kernel, and [NewKernelSampler] makes a sampler for
// [Stream].
type Kernel interface {
	// Advance makes the given number of iterations, which change x, and counts their outcomes in
	// the tally. The state x must have positive density.
	Advance(r *Rand, x *State, iterations int, tally *Tally) error
}

// A Learner is a kernel that tunes itself during warm-up. It stores what it learns about a chain in
// the state of the chain; see [State.Learnt].
type Learner interface {
	Kernel
	// Warm makes iterations of warm-up, which may change how later iterations move. During warm-up
	// the chain need not leave the target invariant.
	Warm(r *Rand, x *State, iterations int, tally *Tally) error
	// EndWarmup fixes what Warm has tuned, so that Advance leaves the target invariant from then
	// on. It may be called without an earlier Warm.
	EndWarmup(x *State)
}

// wrapKernelError returns err with the name of the kernel before its text.
func wrapKernelError(kernelName string, err error) error {
	return fmt.Errorf("%s: %w", kernelName, err)
}

// Checks at compile time that the kernels of this package implement Kernel, Learner or Sampler.
var (
	_ Kernel  = (*acceleratedKernel)(nil)
	_ Kernel  = (*Exact)(nil)
	_ Kernel  = (*gibbsKernel)(nil)
	_ Kernel  = (*Metropolis)(nil)
	_ Kernel  = (*naiveKernel)(nil)
	_ Learner = (*Balanced)(nil)

	_ Sampler = (*Tempered)(nil)
)

// KernelNames returns the names that [NewSampler] accepts, in alphabetical order: all names that
// [NewKernel] accepts, and tempered.
func KernelNames() []string {
	return []string{"accelerated", "balanced", "exact", "gibbs", "naive", "tempered"}
}

// NewKernel returns the named kernel for a target. It fails with an error that wraps [ErrReducible]
// if the kernel cannot reach all states of the target.
//
//   - balanced is [Balanced].
//   - exact is [Exact].
//   - accelerated is Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3). It takes a used
//     ingredient and any other ingredient, and divides their joint amount again by the target's
//     exact conditional law.
//   - gibbs is the Gibbs sampler of the same paper (§4.2). It does the same for any two
//     ingredients, most of which are unused, so most iterations change nothing.
//   - naive is the naive sampler of the same paper (§4.2). It draws candidates uniformly, and in a
//     large space it rarely accepts one.
//
// The kernels accelerated and gibbs change the number of ingredients by at most 1. So they need a
// sparsity law that has mass on every number from its smallest to its largest.
//
// NewKernel accepts all [KernelNames] except tempered, which moves several states; see
// [NewSampler].
func NewKernel(name string, t *Target) (Kernel, error) {
	if t == nil {
		return nil, fmt.Errorf("there is no target for the kernel %q", name)
	}
	switch name {
	case "accelerated":
		return newAcceleratedKernel(t)
	case "balanced":
		return NewBalanced(t)
	case "exact":
		return NewExact(t)
	case "gibbs":
		return newGibbsKernel(t)
	case "naive":
		return newNaiveKernel(t)
	case "tempered":
		return nil, fmt.Errorf("tempered moves a chain of several replicas, and not a lone state: use NewSampler or NewTempered")
	}
	return nil, fmt.Errorf("there is no kernel %q: there are %s", name, strings.Join(KernelNames(), ", "))
}

// NewSampler returns a sampler of the target that uses the kernel with the given name, one of
// [KernelNames]. It fails for the same reasons as [NewKernel].
func NewSampler(name string, t *Target) (Sampler, error) {
	if name == "tempered" && t != nil {
		return NewTempered(t)
	}
	k, err := NewKernel(name, t)
	if err != nil {
		return nil, err
	}
	return NewKernelSampler(t, k)
}

// A Sampler makes chains of one target. One sampler makes any number of chains, also concurrently.
// [NewKernelSampler] makes a Sampler from a [Kernel], including the user's own. [Tempered] is a Sampler.
// [NewSampler] makes a Sampler by the name of its kernel.
type Sampler interface {
	// NewChain starts a chain. The seed and the index decide all draws of the chain, which are
	// independent of the draws of other chains.
	NewChain(seed uint64, index int) (*Chain, error)
	// RestoreChain restores a chain of this sampler from data that [Chain.MarshalBinary] returned.
	// It recomputes the scores of the chain's states.
	RestoreChain(data []byte) (*Chain, error)
}

// NewKernelSampler returns a sampler. Its chains sample the target t and are moved by the kernel k.
func NewKernelSampler(t *Target, k Kernel) (Sampler, error) {
	if t == nil || k == nil {
		return nil, errors.New("a sampler is made of a target and a kernel")
	}
	return &kernelSampler{t, k}, nil
}

// A kernelSampler makes chains with a single state that a kernel moves.
type kernelSampler struct {
	target *Target
	kernel Kernel
}

// NewChain starts a chain that the kernel moves; see the function [NewChain].
func (s *kernelSampler) NewChain(seed uint64, index int) (*Chain, error) {
	return NewChain(s.target, s.kernel, seed, index)
}

// RestoreChain restores a saved chain that the kernel moves; see the function [RestoreChain].
func (s *kernelSampler) RestoreChain(data []byte) (*Chain, error) {
	return RestoreChain(s.target, s.kernel, data)
}
