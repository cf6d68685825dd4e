package kir_test

import (
	"context"
	"testing"

	"kir"
)

// One iteration at the size of the paper's large experiments, without wishes.
func BenchmarkIteration(b *testing.B) {
	space, err := kir.NewSpace(2000, 100)
	if err != nil {
		b.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(17, 24))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range kir.KernelNames() {
		b.Run(name, func(b *testing.B) {
			k, err := kir.NewKernel(name, target)
			if err != nil {
				b.Fatal(err)
			}
			c, err := kir.NewChain(target, k, 1, 0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if err := c.Advance(b.N); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// One draw of a stream that keeps every state.
func BenchmarkStream(b *testing.B) {
	space, err := kir.NewSpace(2000, 100)
	if err != nil {
		b.Fatal(err)
	}
	target, err := kir.NewTarget(space, kir.Uniform(17, 24))
	if err != nil {
		b.Fatal(err)
	}
	used := 0
	o := kir.Options{Kernel: "accelerated", Chains: 1, Draws: b.N, Thin: 1, Seed: 1}
	_, err = kir.Stream(context.Background(), target, o, func(_, _ int, x *kir.State) error {
		used += x.Composition.Used()
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
