package kernelbench_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"kir/internal/compile"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// growCocktails reads the example of the cocktails and grows its two forests.
var growCocktails = sync.OnceValues(func() (*compile.Problem, error) {
	return compile.Load(context.Background(), "../../../examples/cocktails/problem.yaml", compile.Options{})
})

func cocktails(tb testing.TB) *compile.Problem {
	p, err := growCocktails()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// weightedCocktails is the target of the cocktails with another weight for
// both wishes.
func weightedCocktails(tb testing.TB, weight float64) *mcmc.Target {
	t := cocktails(tb).Target
	wishes := slices.Clone(t.Objectives())
	for k := range wishes {
		wishes[k].Weight = weight
	}
	sizes := make(map[int]float64)
	lo, hi := t.Law().Support()
	for n := lo; n <= hi; n++ {
		if p := t.Law().P(n); p > 0 {
			sizes[n] = p
		}
	}
	heavy, err := mcmc.NewTarget(t.Space(), mcmc.Table(sizes), wishes...)
	if err != nil {
		tb.Fatal(err)
	}
	return heavy
}

// benchIterations measures one iteration of a kernel.
func benchIterations(b *testing.B, kernel string, t *mcmc.Target) {
	c := settled(b, kernel, t, 1, 10_000)
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.Advance(b.N); err != nil {
		b.Fatal(err)
	}
}

// One iteration of the paper's algorithm on the two forests of the cocktails.
func BenchmarkAcceleratedCocktails(b *testing.B) {
	benchIterations(b, "accelerated", cocktails(b).Target)
}

// One evaluation of the two forests of the cocktails at compositions from all over the
// target. Package model compares it with walking tree by tree.
func BenchmarkForestPoint(b *testing.B) {
	t := cocktails(b).Target
	c := settled(b, "accelerated", t, 1, 10_000)
	points := make([]*mcmc.Composition, 1024)
	for k := range points {
		if err := c.Advance(100); err != nil {
			b.Fatal(err)
		}
		points[k] = c.State.Composition.Clone()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for k := range b.N {
		if _, err := t.LogScore(points[k%len(points)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBalanced(b *testing.B) {
	b.Run("cocktails", func(b *testing.B) { benchIterations(b, "balanced", cocktails(b).Target) })
}

// One scan of all replicas.
func BenchmarkTempered(b *testing.B) {
	b.Run("cocktails", func(b *testing.B) { benchIterations(b, "tempered", cocktails(b).Target) })
	b.Run("cocktails30", func(b *testing.B) { benchIterations(b, "tempered", weightedCocktails(b, 30)) })
}

// No kernel allocates on forests once its lists have grown. Package mcmc has the other
// targets.
func TestAdvanceOnCocktailsDoesNotAllocate(t *testing.T) {
	if testmode.RaceDetector {
		t.Skip("the race detector allocates")
	}
	target := cocktails(t).Target
	for _, kernel := range mcmc.KernelNames() {
		if kernel == "exact" {
			continue // it is for targets without wishes
		}
		c := settled(t, kernel, target, 1, testmode.Pick(10_000, 1000))
		allocations := testing.AllocsPerRun(testmode.Pick(10, 3), func() {
			if err := c.Advance(1000); err != nil {
				t.Fatal(err)
			}
		})
		// The longest line yet may still grow a list: once in a while, not
		// once an iteration.
		if allocations > 1 {
			t.Errorf("%s: 1000 iterations make %v allocations", kernel, allocations)
		}
	}
}
