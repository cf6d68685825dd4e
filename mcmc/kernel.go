package mcmc

import (
	"errors"
	"fmt"
	"strings"
)

// A Kernel is the transition of a Markov chain that leaves the target invariant: a state
// distributed as the target still is after a move.
//
// A kernel depends on its target alone, so one kernel serves any number of chains at once. The
// [State] and the [Rand] hold the data of a chain.
//
// To write your own kernel, start from [NewMetropolis]. A kernel that tunes itself implements
// [Learner] too. [NewChain] makes a chain of a kernel, and [SamplerOf] a sampler for [Stream].
type Kernel interface {
	// Advance makes iterations in place and adds their outcomes to the tally. The state must have
	// positive density.
	Advance(r *Rand, x *State, iterations int, tally *Tally) error
}

// A Learner is a kernel that tunes itself in warm-up. It stores what it learns about a chain in the
// chain's state; see [State.Learnt].
type Learner interface {
	Kernel
	// Warm makes iterations that may tune later ones. Meanwhile the chain need not leave the target
	// invariant.
	Warm(r *Rand, x *State, iterations int, tally *Tally) error
	// EndWarmup fixes the tuning, so that Advance leaves the target invariant. It may be called
	// without an earlier Warm.
	EndWarmup(x *State)
}

// kernelError adds the kernel's name to an error.
func kernelError(kernel string, err error) error { return fmt.Errorf("%s: %w", kernel, err) }

// The names of the kernels of this package.
var (
	_ Kernel  = (*accelerated)(nil)
	_ Kernel  = (*Exact)(nil)
	_ Kernel  = (*gibbs)(nil)
	_ Kernel  = (*Metropolis)(nil)
	_ Kernel  = (*naive)(nil)
	_ Learner = (*Balanced)(nil)

	_ Sampler = (*Tempered)(nil)
)

// KernelNames returns the names that [NewSampler] accepts, in alphabetical order: those of
// [NewKernel], and tempered.
func KernelNames() []string {
	return []string{"accelerated", "balanced", "exact", "gibbs", "naive", "tempered"}
}

// NewKernel returns the named kernel for a target. It fails with an error that wraps [ErrReducible]
// where the kernel is not valid.
//
//   - balanced and exact are [Balanced] and [Exact].
//   - accelerated is Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3). It takes a used
//     ingredient and another one, and splits their sum anew by the target's exact conditional law.
//   - gibbs is their Gibbs sampler (§4.2): the same for any two ingredients, which mostly changes
//     nothing.
//   - naive is their naive sampler: it draws candidates uniformly and rarely accepts one in a large
//     space.
//
// accelerated and gibbs change the number of ingredients by at most 1, so they need a law of n
// without a gap.
//
// NewKernel accepts all [KernelNames] but tempered, which moves more than one state; see
// [NewSampler].
func NewKernel(name string, t *Target) (Kernel, error) {
	if t == nil {
		return nil, fmt.Errorf("there is no target for the kernel %q", name)
	}
	switch name {
	case "accelerated":
		return newAccelerated(t)
	case "balanced":
		return NewBalanced(t)
	case "exact":
		return NewExact(t)
	case "gibbs":
		return newGibbs(t)
	case "naive":
		return newNaive(t)
	case "tempered":
		return nil, fmt.Errorf("tempered moves a chain of several replicas, and not a lone state: use NewSampler or NewTempered")
	}
	return nil, fmt.Errorf("there is no kernel %q: there are %s", name, strings.Join(KernelNames(), ", "))
}

// NewSampler returns the sampler of a target with the named kernel, one of [KernelNames]. It fails
// as [NewKernel] does.
func NewSampler(name string, t *Target) (Sampler, error) {
	if name == "tempered" && t != nil {
		return NewTempered(t)
	}
	k, err := NewKernel(name, t)
	if err != nil {
		return nil, err
	}
	return SamplerOf(t, k)
}

// A Sampler makes the chains of one target. It serves any number of chains at once. [SamplerOf]
// makes one from a [Kernel], including the user's own. [Tempered] is a Sampler, and [NewSampler]
// makes one by name.
type Sampler interface {
	// NewChain starts a chain. The seed and the index decide all its draws, which are independent
	// of other chains.
	NewChain(seed uint64, index int) (*Chain, error)
	// RestoreChain restores a chain of this sampler from the result of [Chain.MarshalBinary], with
	// its states refreshed.
	RestoreChain(data []byte) (*Chain, error)
}

// SamplerOf returns the sampler that makes chains of a kernel on a target.
func SamplerOf(t *Target, k Kernel) (Sampler, error) {
	if t == nil || k == nil {
		return nil, errors.New("a sampler is made of a target and a kernel")
	}
	return &kernelSampler{t, k}, nil
}

// kernelSampler makes chains that a kernel moves.
type kernelSampler struct {
	target *Target
	kernel Kernel
}

// NewChain is [NewChain].
func (s *kernelSampler) NewChain(seed uint64, index int) (*Chain, error) {
	return NewChain(s.target, s.kernel, seed, index)
}

// RestoreChain is [RestoreChain].
func (s *kernelSampler) RestoreChain(data []byte) (*Chain, error) {
	return RestoreChain(s.target, s.kernel, data)
}
