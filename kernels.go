package kir

import (
	"fmt"
	"strings"
)

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
