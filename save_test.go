package kir_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kir"
	words "kir/internal/record"
	"kir/property"
	"kir/rule"
)

// A chain that is saved and restored goes on, bit for bit, as the one that was
// not, from its next Refresh on; and saving changes nothing.
func TestRestoredEqualsUninterrupted(t *testing.T) {
	for name, target := range chainTargets(t) {
		for _, kernel := range append(kir.KernelNames(), "hand over") {
			sampler, err := kir.NewSampler(kernel, target)
			if kernel == "hand over" {
				var k kir.Kernel
				if k, err = handOverKernel(target); err == nil {
					sampler, err = kir.SamplerOf(target, k)
				}
			}
			if err != nil {
				continue // exact, with wishes
			}
			for _, before := range []int{0, 1, 50} {
				c, err := sampler.NewChain(7, before)
				if err != nil {
					t.Fatal(err)
				}
				trace(t, c, before)
				data, err := c.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.State.Refresh(); err != nil {
					t.Fatal(err)
				}
				again, err := c.MarshalBinary()
				if err != nil || !bytes.Equal(data, again) {
					t.Fatalf("%s, %s: what is saved changes by saving or refreshing: %v", name, kernel, err)
				}
				restored, err := sampler.RestoreChain(data)
				if err != nil {
					t.Fatal(err)
				}
				want, got := trace(t, c, 60), trace(t, restored, 60)
				if got != want {
					t.Errorf("%s, %s, after %d: restored, it goes on otherwise:\n%s\nnot\n%s", name, kernel, before, got[:200], want[:200])
				}
				other, err := sampler.NewChain(8, before)
				if err != nil {
					t.Fatal(err)
				}
				if trace(t, other, 60) == want {
					t.Errorf("%s, %s: another seed gives the same", name, kernel)
				}
			}
		}
	}
}

// TestDrawsStay keeps what chains of all kernels do from fixed seeds on targets of all
// kinds: their draws and scores, what they count, find and learn, and what is saved of
// them. It says nothing of whether that is right, but sees every change.
func TestDrawsStay(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("exp and log are rounded otherwise")
	}
	kept := words.Open(t)
	targets := chainTargets(t)
	spread := make([]float64, 40)
	returns := make([]float64, 40)
	risks := make([][]float64, 40)
	for i := range spread {
		spread[i], returns[i], risks[i] = float64(i*i%17), float64(i%7)/40, make([]float64, 40)
		for j := range risks[i] {
			risks[i][j] = 0.01 * float64(1+i%3) * float64(1+j%3)
		}
		risks[i][i] += 0.02
	}
	blend := must(property.NewBlend(spread, 9000, must(property.Normal(7, 0.3))))
	portfolio := must(property.NewMarkowitz(returns, risks, 300, 9000))
	targets["long lines"] = newTarget(t, 40, 9000, kir.Uniform(2, 9), kir.Wish{Name: "blend", Property: blend, Weight: 2}, kir.Wish{Name: "portfolio", Property: portfolio, Weight: 1})
	holes := wish("holes", 1, func(x *kir.Composition) float64 { return float64(x.Amount(0)*x.Amount(1)%3) + 0.2*float64(x.Amount(2)) })
	targets["gaps and zeros"] = newTarget(t, 7, 12, kir.Table(map[int]float64{1: 1, 3: 2, 6: 0.5}), holes)
	targets["one"] = newTarget(t, 1, 1, kir.Uniform(1, 1))
	targets["wide"] = newTarget(t, 3000, 100, kir.Uniform(17, 24))
	targets["dense"] = newTarget(t, 60, 600, kir.Exponential(0.01), wish("used", 0.5, func(x *kir.Composition) float64 { return float64(x.Used()) }))
	factors := func(n int, of func(i int) float64) []float64 {
		f := make([]float64, n)
		for i := range f {
			f[i] = of(i)
		}
		return f
	}
	for name, rules := range map[string][]rule.Rule{
		"counted": {rule.Amount{Of: []int{0, 1, 2}, Min: 3, Max: 20}, rule.Amount{Of: []int{4}, Step: 4}, rule.Need{If: 3, Then: []int{5, 6}}, rule.Group{Of: []int{0, 7, 8}, Used: &rule.Range{Min: 1, Max: 2}, Total: &rule.Range{Min: 5, Max: 30}}},
		"limited": {rule.Limit{Factors: factors(6, func(i int) float64 { return float64(i*i%11) + 0.25 }), Min: 3, Max: 5}, rule.Limit{Factors: factors(6, func(i int) float64 { return float64(7*i%10) / 3 }), Min: math.Inf(-1), Max: 1.25}, rule.Amount{Of: []int{2, 3}, Min: 2}},
		"equal":   {rule.Limit{Factors: factors(10, func(i int) float64 { return float64(i % 5) }), Min: 2, Max: 2}, rule.If{Used: []int{1}, Then: rule.Exclude{Of: []int{2}}}},
		"near":    {rule.Near{Recipe: []rule.Part{{Ingredient: 1, Amount: 20}, {Ingredient: 4, Amount: 20}}, Changes: 2, Distance: 15}, rule.Ratio{Of: []int{1}, To: []int{4}, Min: 0.5, Max: 2}},
	} {
		n := 10
		if name == "limited" {
			n = 6
		}
		for _, steps := range []float64{0, 1} { // a table, or measured
			if steps == 1 && (name == "equal" || name == "limited") {
				continue // takes long, or is measured in any case
			}
			space, err := kir.NewRuledSpace(t.Context(), rule.Set{Ingredients: n, Total: 40, Rules: rules}, kir.Counting{Law: kir.Uniform(1, 5), Seed: 3, Workers: 1, TableSteps: steps})
			if err != nil {
				t.Fatal(err)
			}
			said := fmt.Sprintf("%.9g", space.LogCounts(5))
			for _, s := range space.Shares() {
				said += fmt.Sprintf(" %+.6v", s)
			}
			kept.Holds(t, fmt.Sprintf("space, %s, %v", name, steps), said)
			target, err := kir.NewTarget(space, kir.Uniform(1, 5), wish("first", 1, func(x *kir.Composition) float64 { return 1 + float64(x.Amount(1)) }))
			if err != nil {
				t.Fatal(err)
			}
			if steps == 1 {
				name += ", measured"
			}
			targets[name] = target
		}
	}
	kernels := map[string]func(t *kir.Target) (kir.Sampler, error){}
	for _, name := range kir.KernelNames() {
		kernels[name] = func(t *kir.Target) (kir.Sampler, error) { return kir.NewSampler(name, t) }
	}
	kernels["hand over"] = func(t *kir.Target) (kir.Sampler, error) {
		k, err := handOverKernel(t)
		if err != nil {
			return nil, err
		}
		return kir.SamplerOf(t, k)
	}
	for name, mix := range map[string]kir.Mix{"mix of lines": {Line: 1}, "mix of resizes": {Resize: 2}, "mix of all": {Line: 1, Resize: 1, Refresh: 1, Recall: 1, Along: 1}} {
		kernels[name] = func(t *kir.Target) (kir.Sampler, error) {
			k, err := kir.NewBalancedMix(t, mix)
			if err != nil {
				return nil, err
			}
			return kir.SamplerOf(t, k)
		}
	}
	for name, target := range targets {
		for kernel, sampler := range kernels {
			of := name + ", " + kernel
			s, err := sampler(target)
			if err != nil {
				kept.Holds(t, of, err.Error())
				continue
			}
			c, err := s.NewChain(11, 2)
			if err != nil {
				kept.Holds(t, of, err.Error())
				continue
			}
			c.Search(0.1)
			if err := c.Warm(100); err != nil {
				t.Fatal(err)
			}
			c.EndWarmup()
			steps := trace(t, c, 40)
			data, err := c.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			finds := 0
			best := math.Inf(-1)
			if err := c.Finds(func(f kir.Find) error { finds, best = finds+1, max(best, f.LogScore); return nil }); err != nil {
				t.Fatal(err)
			}
			first, second := sha256.Sum256([]byte(steps)), sha256.Sum256(data)
			said := fmt.Sprintf("%.60s %.9g %.9g, %d updated, %d finds to %.9g, %d bytes, %x %x", c.State.Composition.String(), c.State.LogDensity(), c.State.AppendScores(nil), c.Updated(), finds, best, len(data), first[:8], second[:8])
			if l := c.Ladder(); l != nil {
				said += fmt.Sprintf(" %d rungs, barrier %.6g, %d restarts, %d round trips, log Z %.6g ± %.6g", len(l.Rungs), l.Barrier, l.Restarts, l.RoundTrips, l.LogZ, l.LogZError)
			}
			kept.Holds(t, of, said)
		}
	}
}

// Damage to what was saved is an error, or gives a chain that works; never a
// panic, and never a chain off its space.
func TestDamagedChains(t *testing.T) {
	zeros := wish("zeros", 1.5, func(x *kir.Composition) float64 { return float64(x.Amount(0)*x.Amount(0)%5) + 0.1*float64(x.Amount(1)) })
	for _, c := range []struct {
		kernel string
		warmup int
		every  int // how many bits lie between two that are damaged
	}{{"accelerated", 0, 1}, {"balanced", 600, 5}, {"tempered", 40, 23}} {
		t.Run(c.kernel, func(t *testing.T) {
			t.Parallel()
			target := newTarget(t, 5, 9, kir.Uniform(1, 3), zeros)
			testDamage(t, target, c.kernel, c.warmup, c.every)
		})
	}
}

func testDamage(t *testing.T, target *kir.Target, kernel string, warmup, every int) {
	sampler, err := kir.NewSampler(kernel, target)
	if err != nil {
		t.Fatal(err)
	}
	c, err := sampler.NewChain(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Warm(warmup); err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	try := func(data []byte, what string) error {
		c, err := sampler.RestoreChain(data)
		if err != nil {
			return err
		}
		err = errors.Join(c.State.Composition.Consistent(), target.Space().Contains(c.State.Composition), c.Warm(30))
		c.EndWarmup()
		if err := errors.Join(err, c.Advance(20), c.State.Composition.Consistent()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return nil
	}
	if err := try(data, "whole"); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if n%every == 0 && try(data[:n], "cut") == nil {
			t.Errorf("%d of %d bytes are a chain", n, len(data))
		}
	}
	if raceDetector {
		every *= 10
	}
	for bit := 0; bit < 8*len(data); bit += every {
		damaged := slices.Clone(data)
		damaged[bit/8] ^= 1 << (bit % 8)
		_ = try(damaged, fmt.Sprintf("bit %d of byte %d", bit%8, bit/8))
	}
	// Numbers that arithmetic goes wrong with.
	for n := len("kir chain 4\n"); n+8 <= len(data); n += max(1, every/4) {
		for _, v := range []uint64{0, math.MaxInt64, 1 << 63, math.MaxUint64, 1<<58 + 1, math.Float64bits(math.NaN()), math.Float64bits(-1e300), math.Float64bits(1e300)} {
			damaged := slices.Clone(data)
			binary.LittleEndian.PutUint64(damaged[n:], v)
			_ = try(damaged, fmt.Sprintf("%#x at byte %d", v, n))
		}
	}
	if try(append(slices.Clone(data), 0), "longer") == nil {
		t.Error("a byte too many is let pass")
	}
	if err := try(bytes.Replace(data, []byte("kir chain "), []byte("kir chain 1"), 1), "another version"); err == nil || !strings.Contains(err.Error(), "another version of kir") {
		t.Errorf("of a chain of another version is said: %v", err)
	}

	for name, other := range map[string]*kir.Target{
		"ingredients": newTarget(t, 6, 9, kir.Uniform(1, 3)),
		"total":       newTarget(t, 5, 10, kir.Uniform(1, 3)),
		"less total":  newTarget(t, 5, 3, kir.Uniform(1, 3)),
		"law": newTarget(t, 5, 9, kir.Uniform(1, 5), wish("never", 1, func(x *kir.Composition) float64 {
			if x.Equal(c.State.Composition) {
				return 0
			}
			return 1
		})),
	} {
		sampler, err := kir.NewSampler(kernel, other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sampler.RestoreChain(data); err == nil {
			t.Errorf("a chain of another %s is restored", name)
		}
	}
}

// Numbers of scans and of scans in a batch whose sum overflows are no chain.
func TestDamagedCounts(t *testing.T) {
	target := newTarget(t, 3, 4, kir.Uniform(1, 3), wish("one", 1, func(*kir.Composition) float64 { return 1 }))
	k, err := kir.NewTemperedReplicas(target, 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.NewChain(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary() // no scan, and so no batch, was made
	if err != nil {
		t.Fatal(err)
	}
	for n := len("kir chain 4\n"); n+32 <= len(data); n++ {
		damaged := slices.Clone(data)
		binary.LittleEndian.PutUint64(damaged[n:], 1<<63-64)
		binary.LittleEndian.PutUint64(damaged[n+24:], 1<<57-1)
		if c, err := k.RestoreChain(damaged); err == nil {
			if err := errors.Join(c.Warm(40), c.Advance(40)); err != nil {
				t.Error(err)
			}
		}
	}

	more, err := kir.NewTemperedReplicas(target, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := more.RestoreChain(data); err == nil {
		t.Error("a chain of 2 replicas is restored as one of 3")
	}
}

func FuzzRestoreChain(f *testing.F) {
	space, err := kir.NewSpace(5, 9)
	if err != nil {
		f.Fatal(err)
	}
	third := kir.Wish{Name: "third", Weight: 1, Property: kir.ScoreFunc(func(x *kir.Composition) float64 { return float64(x.Amount(0) % 3) })}
	target, err := kir.NewTarget(space, kir.Uniform(1, 3), third)
	if err != nil {
		f.Fatal(err)
	}
	var samplers []kir.Sampler
	for _, name := range []string{"balanced", "tempered"} {
		sampler, err := kir.NewSampler(name, target)
		if err != nil {
			f.Fatal(err)
		}
		samplers = append(samplers, sampler)
		for _, warmup := range []int{0, 40, 600} {
			c, err := sampler.NewChain(1, 0)
			if err != nil {
				f.Fatal(err)
			}
			if err := c.Warm(warmup); err != nil {
				f.Fatal(err)
			}
			data, err := c.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, sampler := range samplers {
			c, err := sampler.RestoreChain(data)
			if err != nil {
				continue
			}
			err = errors.Join(c.State.Composition.Consistent(), c.Warm(40))
			c.EndWarmup()
			if err := errors.Join(err, c.Advance(50), c.State.Composition.Consistent()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A chain that is saved and restored before every scan of its warm-up and
// after ends as one that is not: in warm-up, too, all that was learnt is saved.
func TestRestoredAtEveryScan(t *testing.T) {
	targets := chainTargets(t)
	targets["steep"] = steep(t)
	for name, target := range targets {
		for _, by := range []struct {
			kernel string
			step   int
		}{{"balanced", 37}, {"tempered", 1}} {
			k, err := kir.NewSampler(by.kernel, target)
			if err != nil {
				t.Fatal(err)
			}
			run := func(restore func(c *kir.Chain) *kir.Chain) []byte {
				chain, err := k.NewChain(5, 0)
				if err != nil {
					t.Fatal(err)
				}
				for scan := range 160 {
					if scan == 110 { // in the middle of a round
						chain.EndWarmup()
					}
					chain = restore(chain)
					move := chain.Advance
					if scan < 110 {
						move = chain.Warm
					}
					if err := move(by.step); err != nil {
						t.Fatal(err)
					}
				}
				data, err := chain.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				return append(data, fmt.Sprintf("%+v", chain.Ladder())...)
			}
			want := run(func(c *kir.Chain) *kir.Chain {
				if err := c.Refresh(); err != nil { // one property sums in the order of the list
					t.Fatal(err)
				}
				return c
			})
			got := run(func(c *kir.Chain) *kir.Chain {
				data, err := c.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				restored, err := k.RestoreChain(data)
				if err != nil {
					t.Fatal(err)
				}
				again, err := restored.MarshalBinary()
				if err != nil || !bytes.Equal(again, data) {
					t.Fatalf("%s, %s: what is saved of a restored chain is something else: %v", name, by.kernel, err)
				}
				return restored
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: restored, it ends otherwise", name, by.kernel)
			}
		}
	}
}
