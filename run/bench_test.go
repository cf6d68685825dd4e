package run

import (
	"io"
	"sync/atomic"
	"testing"

	"kir"
	"kir/run/drawfile"
)

func BenchmarkWriteDraws(b *testing.B) {
	chain := func(b *testing.B) (*Spec, *kir.Chain) {
		s := largeSpec(b, b.N)
		k, err := kir.NewKernel("accelerated", s.Target)
		if err != nil {
			b.Fatal(err)
		}
		c, err := kir.NewChain(s.Target, k, 1, 0)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Advance(10000); err != nil {
			b.Fatal(err)
		}
		return s, c
	}
	b.Run("bare", func(b *testing.B) {
		_, c := chain(b)
		b.ResetTimer()
		for range b.N / 1024 {
			if err := c.Advance(1024); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		_, c := chain(b)
		b.ResetTimer()
		last, n := int64(0), 0
		for range b.N {
			if err := c.Advance(1); err != nil {
				b.Fatal(err)
			}
			if u := c.Tally().Updated; u != last {
				last = u
				n++
			}
		}
	})
	b.Run("written", func(b *testing.B) {
		s, c := chain(b)
		w, err := drawfile.NewWriter(io.Discard, drawfile.Schema{Total: 100, Ingredients: s.Ingredients})
		if err != nil {
			b.Fatal(err)
		}
		r := newRecorder(s, w)
		var abandon atomic.Bool
		b.ResetTimer()
		for range (b.N + 1023) / 1024 {
			if err := c.State.Refresh(); err != nil {
				b.Fatal(err)
			}
			if err := r.sample(c, 1024, 1, &abandon); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(w.Offset())/float64(w.Draws()), "B/draw")
	})
}
