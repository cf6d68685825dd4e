package main

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"kir"
	"kir/problem"
	"kir/run"
)

// kinds of figures, in the order of the table.
var kinds = []string{"means", "presence", "law of n", "quantiles"}

// A plan says how the short runs are made.
type plan struct {
	runs, chains, warmup, draws int
	seed                        uint64
	workers                     int
}

// standard is the plan of the published table.
var standard = plan{runs: 200, chains: 4, warmup: 500, draws: 500, seed: 1, workers: 8}

// A coverage counts how often a truth lies within 2 stated errors of a figure.
type coverage struct {
	within, stated, unknown int
	worst                   float64 // |z|
	squares                 float64
}

// see takes a figure whose truth is anything from low to high. rounding is
// by how much it may be off because computers round.
func (c *coverage) see(estimate, se, low, high float64) {
	if math.IsNaN(se) {
		c.unknown++
		return
	}
	c.stated++
	distance := max(0, low-estimate, estimate-high)
	if distance <= 1e-9*max(1, math.Abs(estimate)) {
		c.within++
		return
	}
	z := distance / se
	if z <= 2 {
		c.within++
	}
	c.worst = max(c.worst, z)
	c.squares += z * z
}

// share is the part of the stated figures whose truth is within.
func (c *coverage) share() float64 { return float64(c.within) / float64(c.stated) }

// cover makes the runs of a problem with a kernel and returns what was found, by
// kind; nil if the kernel refuses the problem.
func cover(ctx context.Context, s *subject, t *truth, kernel string, p plan) (map[string]*coverage, error) {
	dir, err := os.MkdirTemp("", "calibration")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	loaded, err := problem.Load(ctx, path, problem.Options{})
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	if kernel == "exact" && len(s.law.Wishes) > 0 {
		return nil, nil // it says so itself
	}
	if _, err := kir.NewKernel(kernel, loaded.Target); errors.Is(err, kir.ErrReducible) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	found := make(map[string]*coverage)
	for _, kind := range kinds {
		found[kind] = &coverage{}
	}
	results := make([]*run.Result, p.runs)
	var g errgroup.Group
	g.SetLimit(p.workers)
	for k := range p.runs {
		g.Go(func() (err error) {
			settings := problem.Sampler{Kernel: kernel, Chains: p.chains, Warmup: p.warmup, Draws: p.draws, Thin: 1, Seed: p.seed + uint64(k)}
			spec := &run.Spec{Name: s.name, Ingredients: loaded.Ingredients, Target: loaded.Target, Settings: settings, Resolved: loaded.Resolved, Version: "calibration"}
			to := filepath.Join(dir, strconv.Itoa(k))
			if results[k], err = run.Start(ctx, spec, to, run.Options{Workers: 1}); err != nil {
				return err
			}
			return os.RemoveAll(to)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, r := range results {
		compare(found, t, r)
	}
	return found, nil
}

// compare holds the figures of a run against the truth.
func compare(found map[string]*coverage, t *truth, r *run.Result) {
	statistics := append([]run.Statistic{r.Used, r.LogDensity}, r.Properties...)
	if r.Score != nil {
		statistics = append(statistics, *r.Score)
	}
	for _, s := range statistics {
		d := t.values[s.Name]
		found["means"].see(s.Mean, s.SEMean, d.mean, d.mean)
		for _, q := range []struct{ p, value, se float64 }{
			{0.05, s.Q5, s.SEQ5}, {0.5, s.Median, s.SEMedian}, {0.95, s.Q95, s.SEQ95},
		} {
			low, high := d.quantile(q.p)
			found["quantiles"].see(q.value, q.se, low, high)
		}
	}
	for _, i := range r.Inclusion {
		if p := t.inclusion[i.Ingredient]; p > 0 && p < 1-1e-12 {
			found["presence"].see(i.Probability, i.MCSE, p, p)
		}
	}
	for _, s := range r.Sizes {
		if p := t.sizes[s.N]; p > 0 && p < 1-1e-12 {
			found["law of n"].see(s.Observed, s.MCSE, p, p)
		}
	}
}

// kernels are the names of those that are run.
func kernels() []string { return slices.Clone(kir.KernelNames()) }

func sqrt(v float64) float64 { return math.Sqrt(v) }
