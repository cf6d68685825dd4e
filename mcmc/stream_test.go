package mcmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"kir/mcmc"
)

// A recorder keeps what a stream hands out.
type recorder struct {
	mutex sync.Mutex
	draws map[int][]string // by chain
}

func (r *recorder) sink(chain, draw int, x *mcmc.State) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if draw != len(r.draws[chain]) {
		return fmt.Errorf("draw %d of chain %d comes after %d others", draw, chain, len(r.draws[chain]))
	}
	r.draws[chain] = append(r.draws[chain], fmt.Sprint(x.Composition, math.Float64bits(x.LogDensity())))
	return nil
}

// samplerOf returns what the settings ask for.
func samplerOf(t *testing.T, o mcmc.Settings, target *mcmc.Target) mcmc.Sampler {
	t.Helper()
	sampler, err := o.Sampler(target)
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

func record(t *testing.T, target *mcmc.Target, o mcmc.Settings, workers int) (*recorder, []mcmc.Tally) {
	t.Helper()
	r := &recorder{draws: make(map[int][]string)}
	tallies, err := mcmc.Stream(context.Background(), samplerOf(t, o, target), o, workers, r.sink)
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
			o := mcmc.Settings{Kernel: kernel, Chains: 5, Warmup: 40, Draws: 60, Thin: 3, Seed: 11}
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
				if !reflect.DeepEqual(tallies, wantTallies) {
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
	target := newTarget(t, 12, 30, mcmc.Uniform(1, 6))
	o := mcmc.Settings{Kernel: "accelerated", Chains: 2, Warmup: 2500, Draws: 9, Thin: 2000, Seed: 5}
	got, tallies := record(t, target, o, 0)
	k, err := mcmc.NewKernel(o.Kernel, target)
	if err != nil {
		t.Fatal(err)
	}
	for index := range o.Chains {
		c, err := mcmc.NewChain(target, k, o.Seed, index)
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
		if !reflect.DeepEqual(tallies[index], c.Tally()) || tallies[index].Iterations != int64(o.Draws*o.Thin) {
			t.Errorf("the tally of chain %d is %+v, want %+v", index, tallies[index], c.Tally())
		}
	}
}

// No more chains are at work at a time than there are workers.
func TestStreamKeepsToItsWorkers(t *testing.T) {
	target := newTarget(t, 12, 30, mcmc.Uniform(1, 6))
	o := mcmc.Settings{Kernel: "accelerated", Chains: 8, Draws: 3, Thin: 1, Seed: 5}
	for _, workers := range []int{1, 2, 5} {
		var mutex sync.Mutex
		now, most := 0, 0
		count := func(by int) {
			mutex.Lock()
			defer mutex.Unlock()
			now += by
			most = max(most, now)
		}
		if _, err := mcmc.Stream(t.Context(), samplerOf(t, o, target), o, workers, func(_, _ int, _ *mcmc.State) error {
			count(1)
			time.Sleep(2 * time.Millisecond)
			count(-1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if most != workers {
			t.Errorf("%d chains of %d were at work at a time, with %d workers", most, o.Chains, workers)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	target := newTarget(t, 12, 30, mcmc.Uniform(1, 6))
	good := mcmc.Settings{Kernel: "accelerated", Chains: 2, Draws: 1000, Thin: 1}
	never := func(int, int, *mcmc.State) error { return nil }
	for name, change := range map[string]func(o *mcmc.Settings){
		"no chains":         func(o *mcmc.Settings) { o.Chains = 0 },
		"negative warm-up":  func(o *mcmc.Settings) { o.Warmup = -1 },
		"negative draws":    func(o *mcmc.Settings) { o.Draws = -1 },
		"no thin":           func(o *mcmc.Settings) { o.Thin = 0 },
		"an unknown kernel": func(o *mcmc.Settings) { o.Kernel = "quick" },
	} {
		o := good
		change(&o)
		if _, err := mcmc.Stream(context.Background(), samplerOf(t, good, target), o, 0, never); err == nil {
			t.Errorf("%s: no error", name)
		}
	}

	full := errors.New("the disk is full")
	_, err := mcmc.Stream(context.Background(), samplerOf(t, good, target), good, 0, func(chain, draw int, _ *mcmc.State) error {
		if draw == 10 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) {
		t.Errorf("a sink that fails gives %v", err)
	}

	nothing := newTarget(t, 12, 30, mcmc.Uniform(1, 6), wish("never", 1, func(*mcmc.Composition) float64 { return 0 }))
	if _, err := mcmc.Stream(context.Background(), samplerOf(t, good, nothing), good, 0, never); !errors.Is(err, mcmc.ErrNoStart) {
		t.Errorf("a target that allows nothing gives %v", err)
	}
}

// The context ends a run in the middle of a long warm-up, of many draws, and of
// a long way between two.
func TestStreamEnds(t *testing.T) {
	target := newTarget(t, 12, 30, mcmc.Uniform(1, 6))
	for name, o := range map[string]mcmc.Settings{
		"before it begins": {Kernel: "accelerated", Chains: 1, Draws: 1, Thin: 1},
		"in warm-up":       {Kernel: "accelerated", Chains: 2, Warmup: 1 << 50, Draws: 1, Thin: 1},
		"while drawing":    {Kernel: "accelerated", Chains: 2, Draws: mcmc.MaxDraws, Thin: 1},
		"between draws":    {Kernel: "accelerated", Chains: 2, Draws: 5, Thin: 1 << 50},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		if name == "before it begins" {
			cancel()
		}
		done := make(chan error, 1)
		go func() {
			_, err := mcmc.Stream(ctx, samplerOf(t, o, target), o, 0, func(int, int, *mcmc.State) error { return nil })
			done <- err
		}()
		if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
