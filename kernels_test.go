package kir_test

import (
	"slices"
	"strings"
	"testing"

	"kir"
)

func TestKernelNames(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3))
	if !slices.IsSorted(kir.KernelNames()) {
		t.Errorf("%v", kir.KernelNames())
	}
	for _, name := range kir.KernelNames() {
		if _, err := kir.NewSampler(name, target); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := kir.NewSampler("acelerated", target)
	for _, name := range append(kir.KernelNames(), `"acelerated"`) {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want it to name %s", err, name)
		}
	}
}
