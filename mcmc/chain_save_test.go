package mcmc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kir/internal/testonly/testmode"
	"kir/mcmc"
)

// A chain that is saved and restored goes on, bit for bit, as the one that was
// not, from its next Refresh on; and saving changes nothing.
func TestRestoredEqualsUninterrupted(t *testing.T) {
	for name, target := range chainTargets(t) {
		for _, kernel := range append(mcmc.KernelNames(), "hand over") {
			sampler, err := mcmc.NewSampler(kernel, target)
			if kernel == "hand over" {
				var k mcmc.Kernel
				if k, err = handOverKernel(target); err == nil {
					sampler, err = mcmc.NewKernelSampler(target, k)
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

// Damage to what was saved is an error, or gives a chain that works; never a
// panic, and never a chain off its space.
func TestDamagedChains(t *testing.T) {
	zeros := wish("zeros", 1.5, func(x *mcmc.Composition) float64 {
		return float64(x.Amount(0)*x.Amount(0)%5) + 0.1*float64(x.Amount(1))
	})
	for _, c := range []struct {
		kernel string
		warmup int
		every  int // how many bits lie between two that are damaged
	}{{"accelerated", 0, 1}, {"balanced", 600, 5}, {"tempered", 40, 23}} {
		t.Run(c.kernel, func(t *testing.T) {
			t.Parallel()
			target := newTarget(t, 5, 9, mcmc.Uniform(1, 3), zeros)
			testDamage(t, target, c.kernel, c.warmup, c.every)
		})
	}
}

func testDamage(t *testing.T, target *mcmc.Target, kernel string, warmup, every int) {
	sampler, err := mcmc.NewSampler(kernel, target)
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
	every *= testmode.Pick(1, 10)
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

	for name, other := range map[string]*mcmc.Target{
		"ingredients": newTarget(t, 6, 9, mcmc.Uniform(1, 3)),
		"total":       newTarget(t, 5, 10, mcmc.Uniform(1, 3)),
		"less total":  newTarget(t, 5, 3, mcmc.Uniform(1, 3)),
		"law": newTarget(t, 5, 9, mcmc.Uniform(1, 5), wish("never", 1, func(x *mcmc.Composition) float64 {
			if x.Equal(c.State.Composition) {
				return 0
			}
			return 1
		})),
	} {
		sampler, err := mcmc.NewSampler(kernel, other)
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
	target := newTarget(t, 3, 4, mcmc.Uniform(1, 3), wish("one", 1, func(*mcmc.Composition) float64 { return 1 }))
	k, err := mcmc.NewTemperedReplicas(target, 2)
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

	more, err := mcmc.NewTemperedReplicas(target, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := more.RestoreChain(data); err == nil {
		t.Error("a chain of 2 replicas is restored as one of 3")
	}
}

func FuzzRestoreChain(f *testing.F) {
	space, err := mcmc.NewSpace(5, 9)
	if err != nil {
		f.Fatal(err)
	}
	third := mcmc.Objective{Name: "third", Weight: 1, Property: mcmc.ScoreFunc(func(x *mcmc.Composition) float64 { return float64(x.Amount(0) % 3) })}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(1, 3), third)
	if err != nil {
		f.Fatal(err)
	}
	var samplers []mcmc.Sampler
	for _, name := range []string{"balanced", "tempered"} {
		sampler, err := mcmc.NewSampler(name, target)
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
			k, err := mcmc.NewSampler(by.kernel, target)
			if err != nil {
				t.Fatal(err)
			}
			run := func(restore func(c *mcmc.Chain) *mcmc.Chain) []byte {
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
			want := run(func(c *mcmc.Chain) *mcmc.Chain {
				if err := c.Refresh(); err != nil { // one property sums in the order of the list
					t.Fatal(err)
				}
				return c
			})
			scan := 0
			got := run(func(c *mcmc.Chain) *mcmc.Chain {
				// In the short form about the end of the warm-up, and some before and after it.
				if scan++; !testmode.Enabled() && (scan < 107 || scan > 114) && scan%9 != 0 {
					if err := c.Refresh(); err != nil {
						t.Fatal(err)
					}
					return c
				}
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

// No chain that is saved has more bytes than it may, also where it remembers as many
// states as a chain does.
func TestMostSaved(t *testing.T) {
	space, err := mcmc.NewSpace(300_000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	sharp := wish("sharp", 1, func(x *mcmc.Composition) float64 { return 1 / float64(1+x.Amount(0)) })
	target, err := mcmc.NewTarget(space, mcmc.Uniform(17, 24), sharp)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kernel string
		warmup int
		least  float64 // of what it may
	}{{"accelerated", 100, 0}, {"balanced", 20_000, 0.2}, {"tempered", 300, 0}} {
		sampler, err := mcmc.NewSampler(c.kernel, target)
		if err != nil {
			t.Fatal(err)
		}
		chain, err := sampler.NewChain(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for left := c.warmup; ; left -= 50 {
			data, err := chain.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			share := float64(len(data)) / float64(mcmc.MaxSavedBytes(c.kernel, 24))
			if share > 1 {
				t.Fatalf("%s: %d bytes are %.2f of what there may be", c.kernel, len(data), share)
			}
			if left <= 0 {
				if share < c.least {
					t.Errorf("%s: %d bytes are %.2f of what there may be: the test is not at its most", c.kernel, len(data), share)
				}
				t.Logf("%s: %d bytes, %.2f", c.kernel, len(data), share)
				break
			}
			if err := chain.Warm(50); err != nil {
				t.Fatal(err)
			}
		}
	}
}
