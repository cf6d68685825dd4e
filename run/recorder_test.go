package run

import (
	"io"
	"sync/atomic"
	"testing"

	"kir"
	"kir/run/drawfile"
)

// Only the end of a page allocates: a few dozen times in 8,192 draws, whether
// draws share much with the ones before or nothing.
func TestRecordingDoesNotAllocate(t *testing.T) {
	for _, kernel := range []string{"accelerated", "balanced"} {
		t.Run(kernel, func(t *testing.T) {
			s := newSpec(t, 2000, 100, kir.Uniform(17, 24), Settings{Kernel: kernel, Chains: 32, Draws: 1, Thin: 1, Seed: 1})
			k, err := kir.NewKernel(kernel, s.Target)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := kir.NewChain(s.Target, k, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			w, err := drawfile.NewWriter(io.Discard, drawfile.Schema{Total: 100, Ingredients: s.Ingredients})
			if err != nil {
				t.Fatal(err)
			}
			r := newRecorder(s, w)
			var abandon atomic.Bool
			segment := func() {
				if err := chain.Refresh(); err != nil {
					t.Fatal(err)
				}
				if err := r.sample(chain, segmentIterations, 1, &abandon); err != nil {
					t.Fatal(err)
				}
			}
			for range 64 {
				segment() // until everything is as large as it becomes
			}
			if n := testing.AllocsPerRun(128, segment); n > 20 {
				t.Errorf("%v allocations in %d draws", n, segmentIterations)
			}
		})
	}
}
