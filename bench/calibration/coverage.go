package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"kir/internal/compile"
	"kir/internal/run"
	"kir/mcmc"
)

// kinds of figures, in the order of the table.
var kinds = []string{"means", "presence", "law of n", "quantiles"}

// A plan says how the short runs are made.
type plan struct {
	runs    int
	chains  int
	warmup  int
	draws   int
	seed    uint64 // of the first run
	workers int    // runs at once
}

// broken is what errors are multiplied by to see that it shows: as if the draws
// were worth twice what they are.
const broken = math.Sqrt2 / 2

// standard is the plan of the published table: as long as what Stan runs by
// default.
var standard = plan{runs: 200, chains: 4, warmup: 1000, draws: 1000, seed: 1, workers: 4}

// A coverage counts, run by run, how often a truth lies within 2 stated errors of
// a figure.
type coverage struct {
	stated, within []int // by run
	unknown        int
}

// see takes a figure of the last run, whose truth is anything from low to high.
func (c *coverage) see(estimate, se, low, high float64) {
	if math.IsNaN(se) {
		c.unknown++
		return
	}
	last := len(c.stated) - 1
	c.stated[last]++
	distance := max(0, low-estimate, estimate-high)
	rounding := 1e-9 * max(1, math.Abs(estimate)) // a sum of scores has an order
	if distance <= 2*se+rounding {
		c.within[last]++
	}
}

// total returns how many figures were stated, how many of them have their truth
// within, and how many were unknown.
func (c *coverage) total() (stated, within, unknown int) {
	for k, n := range c.stated {
		stated += n
		within += c.within[k]
	}
	return stated, within, c.unknown
}

// share is the part of the stated figures whose truth is within, and its standard
// error. The figures of a run depend on each other, its runs do not: it is that of
// a ratio of sums over runs.
func (c *coverage) share() (share, se float64) {
	stated, within, _ := c.total()
	share = float64(within) / float64(stated)
	sum := 0.0
	for k, n := range c.stated {
		d := float64(c.within[k]) - share*float64(n)
		sum += d * d
	}
	return share, math.Sqrt(sum) / float64(stated)
}

// sample makes the runs of a problem with a kernel; none if the kernel refuses the
// problem.
func sample(ctx context.Context, s *subject, kernel string, p plan) ([]*run.Result, error) {
	dir, err := os.MkdirTemp("", "calibration")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	loaded, err := compile.Load(ctx, path, compile.Options{})
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	if kernel == "exact" && len(s.law.Objectives) > 0 {
		return nil, nil // it says so itself
	}
	if _, err := mcmc.NewSampler(kernel, loaded.Target); errors.Is(err, mcmc.ErrReducible) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	results := make([]*run.Result, p.runs)
	var g errgroup.Group
	g.SetLimit(p.workers)
	for k := range p.runs {
		g.Go(func() (err error) {
			settings := mcmc.Settings{Kernel: kernel, Chains: p.chains, Warmup: p.warmup, Draws: p.draws, Thin: 1, Seed: p.seed + uint64(k)}
			spec := &run.Spec{Name: s.name, Ingredients: loaded.Ingredients, Target: loaded.Target, Settings: settings, ResolvedProblem: loaded.Resolved, Version: "calibration"}
			to := filepath.Join(dir, strconv.Itoa(k))
			if results[k], err = run.Start(ctx, spec, run.NewDirectoryStore(to), run.Options{Workers: 1}); err != nil {
				return err
			}
			return os.RemoveAll(to)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}

// cover holds the figures of runs, their errors times a factor, against the truth,
// and returns what was found, by kind.
func cover(results []*run.Result, t *truth, factor float64) map[string]*coverage {
	found := make(map[string]*coverage)
	for _, kind := range kinds {
		found[kind] = &coverage{}
	}
	for _, r := range results {
		for _, c := range found {
			c.stated, c.within = append(c.stated, 0), append(c.within, 0)
		}
		compare(found, t, r, factor)
	}
	return found
}

// compare adds a run to what was found.
func compare(found map[string]*coverage, t *truth, r *run.Result, factor float64) {
	statistics := append([]run.Statistic{r.IngredientCount, r.LogDensity}, r.Properties...)
	if r.Score != nil {
		statistics = append(statistics, *r.Score)
	}
	for _, s := range statistics {
		d := t.values[s.Name]
		found["means"].see(float64(s.Mean), factor*float64(s.SEMean), d.mean, d.mean)
		for _, q := range []struct{ p, value, se float64 }{
			{0.05, float64(s.Q5), float64(s.SEQ5)}, {0.5, float64(s.Median), float64(s.SEMedian)}, {0.95, float64(s.Q95), float64(s.SEQ95)},
		} {
			low, high := d.quantile(q.p)
			found["quantiles"].see(q.value, factor*q.se, low, high)
		}
	}
	for _, i := range r.Inclusion {
		if p := t.inclusion[i.Index]; p > 0 && p < 1-1e-12 {
			found["presence"].see(float64(i.Probability), factor*float64(i.MCSE), p, p)
		}
	}
	for _, s := range r.Sizes {
		if p := t.sizes[s.N]; p > 0 && p < 1-1e-12 {
			found["law of n"].see(float64(s.Observed), factor*float64(s.MCSE), p, p)
		}
	}
}
