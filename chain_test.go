package kir_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kir"
	"kir/rule"
)

// chainTargets are targets of every kind that a chain can be of.
func chainTargets(t *testing.T) map[string]*kir.Target {
	t.Helper()
	sum := wish("sum", 1.3, func(x *kir.Composition) float64 { // in the order of the ingredients used
		y := 0.0
		for _, i := range x.Ingredients() {
			y += 1 / (0.3 + float64(i)*float64(x.Amount(int(i))))
		}
		return y
	})
	ruled, err := kir.NewRuledSpace(context.Background(), rule.Set{Ingredients: 12, Total: 30, Rules: []rule.Rule{
		rule.Group{Of: []int{0, 1, 2}, Used: &rule.Range{Min: 1, Max: 1}}, rule.Group{Of: []int{2, 3}, Used: &rule.Range{Min: 0, Max: 1}},
	}}, 6)
	if err != nil {
		t.Fatal(err)
	}
	tree := kir.Wish{Name: "tree", Property: newTreeProperty(12, 30), Weight: 1}
	under, err := kir.NewTarget(ruled, kir.Uniform(1, 6), tree)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*kir.Target{
		"bare":   newTarget(t, 12, 30, kir.Uniform(1, 6)),
		"scored": newTarget(t, 12, 30, kir.Uniform(1, 6), tree, sum),
		"ruled":  under,
	}
}

// trace advances a chain and returns all there is to see on the way.
func trace(t *testing.T, c *kir.Chain, steps int) string {
	t.Helper()
	var b strings.Builder
	for range steps {
		if err := c.Advance(3); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, c.State.Composition, math.Float64bits(c.State.LogDensity()), c.State.AppendScores(nil))
	}
	fmt.Fprintf(&b, "%+v %d", c.Tally(), c.Tries)
	return b.String()
}

// A chain that is saved and restored goes on, bit for bit, as the one that was
// not, from its next Refresh on; and saving changes nothing.
func TestRestoredEqualsUninterrupted(t *testing.T) {
	for name, target := range chainTargets(t) {
		for _, kernel := range append(kir.KernelNames(), "hand over") {
			k, err := kir.NewKernel(kernel, target)
			if kernel == "hand over" {
				k, err = handOverKernel(target)
			}
			if err != nil {
				continue // exact, with wishes
			}
			for _, before := range []int{0, 1, 50} {
				c, err := kir.NewChain(target, k, 7, before)
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
				restored, err := kir.RestoreChain(target, k, data)
				if err != nil {
					t.Fatal(err)
				}
				want, got := trace(t, c, 60), trace(t, restored, 60)
				if got != want {
					t.Errorf("%s, %s, after %d: restored, it goes on otherwise:\n%s\nnot\n%s", name, kernel, before, got[:200], want[:200])
				}
				other, err := kir.NewChain(target, k, 8, before)
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
	zeros := wish("zeros", 1.5, func(x *kir.Composition) float64 { return float64(x.Amount(0)*x.Amount(0)%5) + 0.1*float64(x.Amount(1)) })
	for _, c := range []struct {
		kernel string
		warmup int
		every  int // how many bits lie between two that are damaged
	}{{"accelerated", 0, 1}, {"balanced", 600, 5}, {"tempered", 40, 23}} {
		t.Run(c.kernel, func(t *testing.T) {
			t.Parallel()
			target := newTarget(t, 5, 9, kir.Uniform(1, 3), zeros)
			k, err := kir.NewKernel(c.kernel, target)
			if err != nil {
				t.Fatal(err)
			}
			testDamage(t, target, k, c.warmup, c.every)
		})
	}
}

func testDamage(t *testing.T, target *kir.Target, k kir.Kernel, warmup, every int) {
	c, err := kir.NewChain(target, k, 1, 0)
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
		c, err := kir.RestoreChain(target, k, data)
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
	for n := len("kir chain 3\n"); n+8 <= len(data); n += max(1, every/4) {
		for _, v := range []uint64{0, math.MaxInt64, 1 << 63, math.MaxUint64, 1<<58 + 1, math.Float64bits(math.NaN()), math.Float64bits(-1e300), math.Float64bits(1e300)} {
			damaged := slices.Clone(data)
			binary.LittleEndian.PutUint64(damaged[n:], v)
			_ = try(damaged, fmt.Sprintf("%#x at byte %d", v, n))
		}
	}
	if try(append(slices.Clone(data), 0), "longer") == nil {
		t.Error("a byte too many is let pass")
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
		if _, err := kir.RestoreChain(other, k, data); err == nil {
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
	c, err := kir.NewChain(target, k, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.MarshalBinary() // no scan, and so no batch, was made
	if err != nil {
		t.Fatal(err)
	}
	for n := len("kir chain 3\n"); n+32 <= len(data); n++ {
		damaged := slices.Clone(data)
		binary.LittleEndian.PutUint64(damaged[n:], 1<<63-64)
		binary.LittleEndian.PutUint64(damaged[n+24:], 1<<57-1)
		if c, err := kir.RestoreChain(target, k, damaged); err == nil {
			if err := errors.Join(c.Warm(40), c.Advance(40)); err != nil {
				t.Error(err)
			}
		}
	}

	more, err := kir.NewTemperedReplicas(target, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kir.RestoreChain(target, more, data); err == nil {
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
	var kernels []kir.Kernel
	for _, name := range []string{"balanced", "tempered"} {
		k, err := kir.NewKernel(name, target)
		if err != nil {
			f.Fatal(err)
		}
		kernels = append(kernels, k)
		for _, warmup := range []int{0, 40, 600} {
			c, err := kir.NewChain(target, k, 1, 0)
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
		for _, k := range kernels {
			c, err := kir.RestoreChain(target, k, data)
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

// A recorder keeps what a stream hands out.
type recorder struct {
	mutex sync.Mutex
	draws map[int][]string // by chain
}

func (r *recorder) sink(chain, draw int, x *kir.State) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if draw != len(r.draws[chain]) {
		return fmt.Errorf("draw %d of chain %d comes after %d others", draw, chain, len(r.draws[chain]))
	}
	r.draws[chain] = append(r.draws[chain], fmt.Sprint(x.Composition, math.Float64bits(x.LogDensity())))
	return nil
}

func record(t *testing.T, target *kir.Target, o kir.Settings, workers int) (*recorder, []kir.Tally) {
	t.Helper()
	r := &recorder{draws: make(map[int][]string)}
	tallies, err := kir.Stream(context.Background(), target, o, workers, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	return r, tallies
}

// Every draw follows from the target, the options and the seed; the number of
// workers is not among them.
func TestStreamOnAnyNumberOfWorkers(t *testing.T) {
	for name, target := range chainTargets(t) {
		for _, kernel := range []string{"accelerated", "balanced"} {
			o := kir.Settings{Kernel: kernel, Chains: 5, Warmup: 40, Draws: 60, Thin: 3, Seed: 11}
			want, wantTallies := record(t, target, o, 1)
			if len(want.draws) != 5 || len(want.draws[4]) != 60 {
				t.Fatalf("%d chains, %d draws", len(want.draws), len(want.draws[4]))
			}
			for _, workers := range []int{0, 2, 3, 8} {
				got, tallies := record(t, target, o, workers)
				for chain := range 5 {
					if !slices.Equal(got.draws[chain], want.draws[chain]) {
						t.Errorf("%s, %s: chain %d differs on %d workers", name, kernel, chain, workers)
					}
				}
				if !slices.Equal(tallies, wantTallies) {
					t.Errorf("%s, %s: the tallies differ on %d workers: %v and %v", name, kernel, workers, tallies, wantTallies)
				}
			}
			// The comparison can fail: chains differ, and seeds do.
			if slices.Equal(want.draws[0], want.draws[1]) {
				t.Errorf("%s, %s: two chains are the same", name, kernel)
			}
			o.Seed = 12
			if other, _ := record(t, target, o, 0); slices.Equal(other.draws[0], want.draws[0]) {
				t.Errorf("%s, %s: two seeds give the same", name, kernel)
			}
		}
	}
}

// A stream is what the chain would have done: warm-up is not kept, and thin is
// how far draws are apart.
func TestStreamIsItsChains(t *testing.T) {
	target := newTarget(t, 12, 30, kir.Uniform(1, 6))
	o := kir.Settings{Kernel: "accelerated", Chains: 2, Warmup: 2500, Draws: 9, Thin: 2000, Seed: 5}
	got, tallies := record(t, target, o, 0)
	k, err := kir.NewKernel(o.Kernel, target)
	if err != nil {
		t.Fatal(err)
	}
	for index := range o.Chains {
		c, err := kir.NewChain(target, k, o.Seed, index)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Warm(o.Warmup); err != nil {
			t.Fatal(err)
		}
		c.EndWarmup()
		for draw := range o.Draws {
			if err := c.Advance(o.Thin); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprint(c.State.Composition, math.Float64bits(c.State.LogDensity())); got.draws[index][draw] != want {
				t.Fatalf("draw %d of chain %d is %s, want %s", draw, index, got.draws[index][draw], want)
			}
		}
		if tallies[index] != c.Tally() || tallies[index].Iterations != int64(o.Draws*o.Thin) {
			t.Errorf("the tally of chain %d is %+v, want %+v", index, tallies[index], c.Tally())
		}
	}
}

func TestStreamErrors(t *testing.T) {
	target := newTarget(t, 12, 30, kir.Uniform(1, 6))
	good := kir.Settings{Kernel: "accelerated", Chains: 2, Draws: 1000, Thin: 1}
	never := func(int, int, *kir.State) error { return nil }
	for name, change := range map[string]func(o *kir.Settings){
		"no chains":         func(o *kir.Settings) { o.Chains = 0 },
		"negative warm-up":  func(o *kir.Settings) { o.Warmup = -1 },
		"negative draws":    func(o *kir.Settings) { o.Draws = -1 },
		"no thin":           func(o *kir.Settings) { o.Thin = 0 },
		"an unknown kernel": func(o *kir.Settings) { o.Kernel = "quick" },
	} {
		o := good
		change(&o)
		if _, err := kir.Stream(context.Background(), target, o, 0, never); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	full := errors.New("the disk is full")
	_, err := kir.Stream(context.Background(), target, good, 0, func(chain, draw int, _ *kir.State) error {
		if draw == 10 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) {
		t.Errorf("a sink that fails gives %v", err)
	}

	nothing := newTarget(t, 12, 30, kir.Uniform(1, 6), wish("never", 1, func(*kir.Composition) float64 { return 0 }))
	if _, err := kir.Stream(context.Background(), nothing, good, 0, never); !errors.Is(err, kir.ErrNoStart) {
		t.Errorf("a target that allows nothing gives %v", err)
	}
}

// The context ends a run in the middle of a long warm-up, of many draws, and of
// a long way between two.
func TestStreamEnds(t *testing.T) {
	target := newTarget(t, 12, 30, kir.Uniform(1, 6))
	for name, o := range map[string]kir.Settings{
		"before it begins": {Kernel: "accelerated", Chains: 1, Draws: 1, Thin: 1},
		"in warm-up":       {Kernel: "accelerated", Chains: 2, Warmup: 1 << 50, Draws: 1, Thin: 1},
		"while drawing":    {Kernel: "accelerated", Chains: 2, Draws: kir.MaxDraws, Thin: 1},
		"between draws":    {Kernel: "accelerated", Chains: 2, Draws: 5, Thin: 1 << 50},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		if name == "before it begins" {
			cancel()
		}
		done := make(chan error, 1)
		go func() {
			_, err := kir.Stream(ctx, target, o, 0, func(int, int, *kir.State) error { return nil })
			done <- err
		}()
		if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
