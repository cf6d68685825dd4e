package run

import (
	"io"
	"sync/atomic"
	"testing"

	"kir"
	"kir/run/drawfile"
)

// BenchmarkWriteDraws is the cost of a draw, for both kernels and the paper's
// targets: iterations alone, iterations one at a time as whoever looks at each
// state must make them (and [kir.Stream] does), and with all that a run does with
// a draw, but for the disk.
func BenchmarkWriteDraws(b *testing.B) {
	for _, c := range []struct {
		name               string
		ingredients, total int
		law                kir.Sparsity
	}{
		{"large", 2000, 100, kir.Uniform(17, 24)},
		{"small", 10, 5, kir.Uniform(2, 5)},
	} {
		for _, kernel := range []string{"accelerated", "balanced"} {
			chain := func(b *testing.B) (*Spec, *kir.Chain) {
				s := newSpec(b, c.ingredients, c.total, c.law, Settings{Kernel: kernel, Chains: 4, Draws: b.N, Thin: 1, Seed: 1})
				k, err := kir.NewKernel(kernel, s.Target)
				if err != nil {
					b.Fatal(err)
				}
				chain, err := kir.NewChain(s.Target, k, 1, 0)
				if err != nil {
					b.Fatal(err)
				}
				if err := chain.Warm(10_000); err != nil {
					b.Fatal(err)
				}
				chain.EndWarmup()
				return s, chain
			}
			b.Run(c.name+"/"+kernel+"/bare", func(b *testing.B) {
				_, chain := chain(b)
				b.ResetTimer()
				if err := chain.Advance(b.N); err != nil {
					b.Fatal(err)
				}
			})
			b.Run(c.name+"/"+kernel+"/sampled", func(b *testing.B) {
				_, chain := chain(b)
				b.ResetTimer()
				for range b.N {
					if err := chain.Advance(1); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(c.name+"/"+kernel+"/written", func(b *testing.B) {
				s, chain := chain(b)
				w, err := drawfile.NewWriter(io.Discard, drawfile.Schema{Total: c.total, Ingredients: s.Ingredients})
				if err != nil {
					b.Fatal(err)
				}
				r := newRecorder(s, w)
				var abandon atomic.Bool
				b.ResetTimer()
				for range (b.N + segmentIterations - 1) / segmentIterations {
					if err := chain.Refresh(); err != nil {
						b.Fatal(err)
					}
					if err := r.sample(chain, segmentIterations, 1, &abandon); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(w.Offset())/float64(w.Draws()), "B/draw")
			})
		}
	}
}
