package mcmc_test

import (
	"slices"
	"strings"
	"testing"

	"kir/mcmc"
)

func TestKernelNames(t *testing.T) {
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3))
	if !slices.IsSorted(mcmc.KernelNames()) {
		t.Errorf("%v", mcmc.KernelNames())
	}
	for _, name := range mcmc.KernelNames() {
		if _, err := mcmc.NewSampler(name, target); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := mcmc.NewSampler("acelerated", target)
	for _, name := range append(mcmc.KernelNames(), `"acelerated"`) {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want it to name %s", err, name)
		}
	}
}
