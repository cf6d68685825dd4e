package report

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"kir"
	"kir/run"
)

// BenchmarkNew is what a report of the cocktails costs before anything of it is
// written: one pass over 4 × 100,000 draws.
func BenchmarkNew(b *testing.B) {
	m := sampleFile(b, filepath.Join("..", "examples", "cocktails", "problem.yaml"), func(s *kir.Settings) { s.Draws = 100_000 })
	for b.Loop() {
		if _, err := New(context.Background(), m.problem, run.Directory(m.dir), m.result, "test"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPage writes the page of the cocktails.
func BenchmarkPage(b *testing.B) {
	m := cocktails(b).model
	var page bytes.Buffer
	for b.Loop() {
		page.Reset()
		if err := m.WritePage(&page); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(page.Len()), "bytes")
}
