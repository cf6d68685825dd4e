package mcmc

import "errors"

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
