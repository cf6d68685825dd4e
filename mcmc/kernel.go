package mcmc

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
	// EndWarmup fixes what Warm has learnt: Advance then leaves the target
	// invariant. Warm may not have been called before.
	EndWarmup(x *State)
}

// kernelError says which kernel failed.
func kernelError(kernel string, err error) error { return fmt.Errorf("%s: %w", kernel, err) }

// All kernels of this package.
var (
	_ Kernel  = (*accelerated)(nil)
	_ Kernel  = (*Exact)(nil)
	_ Kernel  = (*gibbs)(nil)
	_ Kernel  = (*Metropolis)(nil)
	_ Kernel  = (*naive)(nil)
	_ Learner = (*Balanced)(nil)

	_ Sampler = (*Tempered)(nil)
)

// KernelNames returns the names that [NewSampler] knows, in alphabetical order:
// those of [NewKernel], and tempered.
func KernelNames() []string {
	return []string{"accelerated", "balanced", "exact", "gibbs", "naive", "tempered"}
}

// NewKernel returns the kernel of that name for a target. It fails with an
// error that wraps [ErrReducible] where the kernel is not valid.
//
//   - balanced and exact are [Balanced] and [Exact].
//   - accelerated is Algorithm 2 of Obara, Morimura and Yanagisawa (2019, §4.3): a used
//     ingredient and another one, and a new split of what they have together from the
//     target's exact conditional law.
//   - gibbs is their Gibbs sampler (§4.2): the same of any two ingredients, which mostly
//     changes nothing.
//   - naive is their naive sampler: candidates drawn uniformly, hardly ever accepted in a
//     large space.
//
// The number of ingredients changes by at most 1 in accelerated and gibbs, so that the
// law of it must not have a gap.
//
// It knows all of [KernelNames] but tempered, which moves more than one state; see
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

// NewSampler returns what makes chains of a target with the kernel of that name,
// one of [KernelNames]. It fails as [NewKernel] does.
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

// A Sampler makes the chains of one target. It serves any number of chains at
// once. [SamplerOf] makes one of a [Kernel], of the user's own too; a [Tempered]
// is one; and [NewSampler] knows those that have a name.
type Sampler interface {
	// NewChain starts a chain. All that it does follows from the seed and the
	// index, and is independent of other chains.
	NewChain(seed uint64, index int) (*Chain, error)
	// RestoreChain returns the chain of this sampler that [Chain.MarshalBinary]
	// saved, with its states refreshed.
	RestoreChain(data []byte) (*Chain, error)
}

// SamplerOf returns the sampler of the chains of a target that a kernel moves.
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
