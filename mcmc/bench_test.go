package mcmc_test

import (
	"context"
	"runtime"
	"testing"

	"kir/internal/testonly/kernelbench"
	"kir/internal/testonly/testmode"
	"kir/mcmc"
	"kir/rule"
)

// The unit that iterations are measured in: one raw draw of 64 bits.
func BenchmarkRandom(b *testing.B) {
	r := mcmc.NewRand(1, "benchmark", 0)
	var sum uint64
	b.ReportAllocs()
	for range b.N {
		sum += r.Uint64()
	}
	sink = sum
}

// sink keeps results from being optimised away.
var sink uint64

// A benchCase is a space and a law to measure kernels on: the paper's small
// and large experiments.
type benchCase struct {
	name               string
	ingredients, total int
	law                mcmc.Sparsity
}

var (
	benchSmall = benchCase{"small", 10, 5, mcmc.Uniform(2, 5)}
	benchLarge = benchCase{"large", 2000, 100, mcmc.Uniform(17, 24)}

	// benchMillion is far beyond the paper's.
	benchMillion = benchCase{"million", 1_000_000, 1_000_000, mcmc.Uniform(45, 55)}
)

func (c benchCase) target(tb testing.TB) *mcmc.Target {
	space, err := mcmc.NewSpace(c.ingredients, c.total)
	if err != nil {
		tb.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, c.law)
	if err != nil {
		tb.Fatal(err)
	}
	return target
}

// benchIterations measures one iteration of a kernel.
func benchIterations(b *testing.B, kernel string, t *mcmc.Target) {
	c := benchChain(b, kernel, t)
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.Advance(b.N); err != nil {
		b.Fatal(err)
	}
}

// benchChain returns a chain after warm-up, whose lists have grown.
func benchChain(tb testing.TB, kernel string, t *mcmc.Target) *mcmc.Chain {
	return settled(tb, kernel, t, 1, 10_000)
}

func BenchmarkAccelerated(b *testing.B) {
	for _, c := range []benchCase{benchSmall, benchLarge} {
		b.Run(c.name, func(b *testing.B) { benchIterations(b, "accelerated", c.target(b)) })
	}
}

func BenchmarkBalanced(b *testing.B) {
	for _, c := range []benchCase{benchSmall, benchLarge, benchMillion} {
		b.Run(c.name, func(b *testing.B) { benchIterations(b, "balanced", c.target(b)) })
	}
}

// The cost of an iteration must hardly grow with the ingredients: by less than
// 3 from 2000 to a million. Both run in turn.
func BenchmarkMillionIngredients(b *testing.B) {
	large, million := benchChain(b, "balanced", benchLarge.target(b)), benchChain(b, "balanced", benchMillion.target(b))
	b.ResetTimer()
	ratio := 0.0
	for range b.N {
		pace, err := kernelbench.IterationSeconds(kernelbench.CPU, 0.06, large, million)
		if err != nil {
			b.Fatal(err)
		}
		ratio += pace[1] / pace[0] / float64(b.N)
	}
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkGibbs(b *testing.B) {
	b.Run("large", func(b *testing.B) { benchIterations(b, "gibbs", benchLarge.target(b)) })
}

func BenchmarkNaive(b *testing.B) {
	b.Run("small", func(b *testing.B) { benchIterations(b, "naive", benchSmall.target(b)) })
}

// Independent draws: in spaces without rules and, by dynamic programming, in
// one of 2000 ingredients with bounds and groups.
func BenchmarkExactDraw(b *testing.B) {
	medium := benchCase{"small", 10, 12, mcmc.Uniform(2, 5)}
	for _, c := range []benchCase{medium, benchLarge} {
		b.Run(c.name, func(b *testing.B) { benchIterations(b, "exact", c.target(b)) })
	}
	b.Run("constrained", func(b *testing.B) { benchIterations(b, "exact", constrained(b)) })
}

func constrained(tb testing.TB) *mcmc.Target {
	set := rule.Set{Ingredients: 2000, Total: 100}
	for i := range set.Ingredients {
		set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: 1 + i%3, Max: 20 + i%50})
	}
	for g := range 10 {
		members := make([]int, 50)
		for k := range members {
			members[k] = 50*g + k
		}
		set.Rules = append(set.Rules, rule.Group{Of: members, Used: &rule.Range{Min: 0, Max: 3}})
	}
	space, err := mcmc.NewRuledSpace(context.Background(), set, mcmc.CountingOptions{Law: mcmc.Uniform(1, 24)})
	if err != nil {
		tb.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, benchLarge.law)
	if err != nil {
		tb.Fatal(err)
	}
	return target
}

// One draw of a stream that keeps every state.
func BenchmarkStream(b *testing.B) {
	used := 0
	o := mcmc.Settings{Kernel: "accelerated", Chains: 1, Draws: b.N, Thin: 1, Seed: 1}
	sampler, err := o.Sampler(benchLarge.target(b))
	if err != nil {
		b.Fatal(err)
	}
	_, err = mcmc.Stream(context.Background(), sampler, o, 0, func(_, _ int, x *mcmc.State) error {
		used += x.Composition.UsedCount()
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// Memory is a few words an ingredient.
func TestMemoryOfAMillionIngredients(t *testing.T) {
	const ingredients = 1_000_000
	measure := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := measure()
	target := benchMillion.target(t)
	c := benchChain(t, "balanced", target)
	// A composition is 12 bytes an ingredient, and there are two: the state and
	// the candidate of independent moves. Twice that is the bound.
	if grown := measure() - before; grown > 48*ingredients {
		t.Errorf("a chain of %d ingredients takes %d bytes, more than 48 an ingredient", ingredients, grown)
	}
	runtime.KeepAlive(c)
}

// No kernel allocates once its lists have grown, without wishes or with
// curves. TestAdvanceOnCocktailsDoesNotAllocate of internal/testonly/kernelbench has forests.
func TestAdvanceDoesNotAllocate(t *testing.T) {
	if testmode.RaceDetector {
		t.Skip("the race detector allocates")
	}
	targets := map[string]*mcmc.Target{
		"small":  benchSmall.target(t),
		"large":  benchLarge.target(t),
		"curves": curved(t, "markowitz", 10_000, 2000),
	}
	targets["pointed"], _ = pointed(t) // of which tempered has a learnt leg
	for name, target := range targets {
		for _, kernel := range mcmc.KernelNames() {
			if kernel == "exact" && name != "small" && name != "large" {
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
				t.Errorf("%s on %s: 1000 iterations make %v allocations", kernel, name, allocations)
			}
		}
	}
}
