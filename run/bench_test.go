package run

import (
	"context"
	"io"
	"os"
	"path/filepath"
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

// BenchmarkRun is a whole run of 4 chains of 5,000,000 draws of the paper's large
// target, all files on the disk, beside the same draws handed to nobody.
func BenchmarkRun(b *testing.B) {
	const chains, draws, warmup = 4, 5_000_000, 10_000
	for _, kernel := range []string{"accelerated", "balanced"} {
		s := newSpec(b, 2000, 100, kir.Uniform(17, 24), Settings{Kernel: kernel, Chains: chains, Warmup: warmup, Draws: draws, Thin: 1, Seed: 1})
		perDraw := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chains*draws), "ns/draw")
		}
		b.Run(kernel+"/stream", func(b *testing.B) {
			for range b.N {
				o := kir.Settings{Kernel: kernel, Chains: chains, Warmup: warmup, Draws: draws, Thin: 1, Seed: 1}
				if _, err := kir.Stream(context.Background(), s.Target, o, 0, func(int, int, *kir.State) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			perDraw(b)
		})
		b.Run(kernel+"/run", func(b *testing.B) {
			for range b.N {
				dir := filepath.Join(b.TempDir(), "run")
				if _, err := Start(context.Background(), s, dir, Options{Workers: 2}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			perDraw(b)
		})
	}
}
