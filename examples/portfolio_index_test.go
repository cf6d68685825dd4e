package examples_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kir/mcmc"
	"kir/property"
	"kir/rule"
)

// readIndex reads the assets of a market index as the OR-Library has them: their number,
// a mean and a standard deviation each, and the correlations of i ≤ j.
func readIndex(t *testing.T, name string) (returns []float64, covariance [][]float64) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := bufio.NewReader(file)
	read := func(into ...any) {
		if _, err := fmt.Fscan(r, into...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	n := 0
	read(&n)
	deviations := make([]float64, n)
	for k := range n {
		mean := 0.0
		read(&mean, &deviations[k])
		returns, covariance = append(returns, mean), append(covariance, make([]float64, n))
	}
	for range n * (n + 1) / 2 {
		i, j, correlation := 0, 0, 0.0
		read(&i, &j, &correlation)
		covariance[i-1][j-1] = correlation * deviations[i-1] * deviations[j-1]
		covariance[j-1][i-1] = covariance[i-1][j-1]
	}
	return returns, covariance
}

// processorTime returns the processor time that the process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A portfolio of ten of an index's assets in steps of a thousandth.
type indexPortfolio struct {
	lambda float64 // risk counts so much, and return the rest
	least  int     // of each that is held
	weight float64
}

func (p indexPortfolio) target(t *testing.T, returns []float64, covariance [][]float64) *mcmc.Target {
	t.Helper()
	const total, held = 1000, 10
	utility, err := property.NewMarkowitz(returns, covariance, p.lambda/(1-p.lambda), total)
	if err != nil {
		t.Fatal(err)
	}
	set := rule.Set{Ingredients: len(returns), Total: total}
	for i := range returns {
		set.Rules = append(set.Rules, rule.Amount{Of: []int{i}, Min: p.least})
	}
	space, err := mcmc.NewRuledSpace(t.Context(), set, mcmc.CountingOptions{Law: mcmc.Uniform(held, held)})
	if err != nil {
		t.Fatal(err)
	}
	target, err := mcmc.NewTarget(space, mcmc.Uniform(held, held), mcmc.Objective{Name: "utility", Property: utility, Weight: p.weight})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// A discovery is the best that was found, and when.
type discovery struct {
	utility float64
	after   time.Duration // of processor time
	parts   []mcmc.Part
}

// searchIndex lets two tempered chains look for the best for some processor time, or until
// they have what is known.
func searchIndex(t *testing.T, target *mcmc.Target, seed uint64, limit time.Duration, known float64) discovery {
	t.Helper()
	const chains, scans, warmup = 2, 100, 2000
	sampler, err := mcmc.NewSampler("tempered", target)
	if err != nil {
		t.Fatal(err)
	}
	begun := processorTime(t)
	var mu sync.Mutex
	found := discovery{utility: math.Inf(-1)}
	var group errgroup.Group
	for k := range chains {
		group.Go(func() error {
			c, err := sampler.NewChain(seed, k)
			if err != nil {
				return err
			}
			c.RecordVisited(math.Inf(-1))
			for made, enough := 0, false; processorTime(t)-begun < limit && !enough; made += scans {
				advance := c.Advance
				if made < warmup {
					advance = c.Warm
				}
				if err := advance(scans); err != nil {
					return err
				}
				if made+scans == warmup {
					c.EndWarmup()
				}
				mu.Lock()
				err := c.DrainVisited(func(f mcmc.VisitedState) error {
					if u := f.LogScore / target.Objectives()[0].Weight; u > found.utility {
						found = discovery{u, processorTime(t) - begun, append(found.parts[:0], f.Parts...)}
					}
					return nil
				})
				c.RecordVisited(found.utility * target.Objectives()[0].Weight)
				enough = found.utility >= known-1e-12
				mu.Unlock()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestIndex prints how long two tempered chains look until they find the best
// indexPortfolio known, which the first of 20 seeds has found in KIR_INDEX_SECONDS of
// processor time, 10 if it is not set, or a later one. KIR_INDEX names the file.
func TestIndex(t *testing.T) {
	name := os.Getenv("KIR_INDEX")
	if name == "" {
		t.Skip("set KIR_INDEX to a file of the OR-Library, such as port1.txt")
	}
	seeds, seconds := 20, 10.0
	for variable, into := range map[string]any{"KIR_INDEX_SECONDS": &seconds, "KIR_INDEX_SEEDS": &seeds} {
		if text := os.Getenv(variable); text != "" {
			if _, err := fmt.Sscan(text, into); err != nil {
				t.Fatalf("%s=%s: %v", variable, text, err)
			}
		}
	}
	returns, covariance := readIndex(t, name)
	for _, weight := range []float64{1e6, 1e7} {
		for _, least := range []int{1, 10} {
			for _, lambda := range []float64{0.5, 0.8} {
				p := indexPortfolio{lambda, least, weight}
				target := p.target(t, returns, covariance)
				var all []discovery
				best := math.Inf(-1)
				for seed := range seeds {
					known := best
					if seed == 0 {
						known = math.Inf(1)
					}
					d := searchIndex(t, target, uint64(seed), time.Duration(seconds*float64(time.Second)), known)
					all, best = append(all, d), max(best, d.utility)
				}
				var times []time.Duration
				for _, d := range all {
					if d.utility >= best-1e-12 {
						times = append(times, d.after.Round(time.Millisecond))
					}
				}
				slices.Sort(times)
				t.Logf("%+v: %.9f found by %d of %d seeds, after %v", p, best, len(times), seeds, times)
			}
		}
	}
}
