package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kir/mcmc"
)

// BenchmarkRun is a whole run on one worker: draws made, written, read back, and
// all figures. A draw of 3 ingredients has four columns of numbers, one of 17 to
// 24, as in the paper's large target, three.
func BenchmarkRun(b *testing.B) {
	one := mcmc.ScoreFunc(func(*mcmc.Composition) float64 { return 1 })
	const draws = 1 << 18
	settings := mcmc.Settings{Kernel: "balanced", Chains: 1, Warmup: 100, Draws: draws, Thin: 1, Seed: 1}
	for _, s := range []*Spec{
		newSpec(b, 346, 100, mcmc.Uniform(3, 3), settings, mcmc.Objective{Name: "a", Property: one}),
		newSpec(b, 2000, 100, mcmc.Uniform(17, 24), settings),
	} {
		b.Run(fmt.Sprint(s.Target.Space().N()), func(b *testing.B) {
			for range b.N {
				dir := filepath.Join(b.TempDir(), "run")
				if _, err := Start(context.Background(), s, NewDirectoryStore(dir), Options{Workers: 1}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*draws), "ns/draw")
		})
	}
}
