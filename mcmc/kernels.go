package mcmc

import (
	"fmt"
	"strings"
)

// All kernels of this package.
var (
	_ Kernel  = (*Accelerated)(nil)
	_ Kernel  = (*Exact)(nil)
	_ Kernel  = (*Gibbs)(nil)
	_ Kernel  = (*Metropolis)(nil)
	_ Kernel  = (*Naive)(nil)
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
// It knows all of [KernelNames] but tempered, which moves more than one state; see
// [NewSampler].
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
