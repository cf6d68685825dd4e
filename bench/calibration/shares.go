package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"kir/internal/constraint"
	"kir/internal/constraint/count"
	"kir/internal/constraint/volume"
	"kir/mcmc"
	"kir/rule"
)

// A sharePlan says how shares that package volume estimates are held against exact
// ones.
type sharePlan struct {
	problems, seeds int
	effort          float64 // of each measurement, in millions of moves
	workers         int
	seed            uint64
}

var standardShares = sharePlan{problems: 400, seeds: 4, effort: 2, workers: 2, seed: 1}

// A shared is a problem whose shares are known.
type shared struct {
	problem volume.Problem
	sizes   []int
	exact   []float64 // log shares, by size
}

// newShared makes a random problem of limits and of groups that cross, small enough to
// look at each composition; nil if nothing is to be measured of it.
func newShared(ctx context.Context, r *rand.Rand) (*shared, error) {
	n, total := 6+r.IntN(4), 12+r.IntN(13)
	set := rule.Set{Ingredients: n, Total: total}
	some := func(most int) []int {
		of := r.Perm(n)[:2+r.IntN(most-1)]
		slices.Sort(of)
		return of
	}
	for range 1 + r.IntN(4) {
		switch r.IntN(5) {
		case 0:
			set.Rules = append(set.Rules, rule.Group{Of: some(4), Used: &rule.Range{Min: 0, Max: 1}}, rule.Group{Of: some(4), Used: &rule.Range{Min: r.IntN(2), Max: 2}})
		case 1:
			of := some(3)
			set.Rules = append(set.Rules, rule.Need{If: of[0], Then: of[1:]})
		case 2:
			set.Rules = append(set.Rules, rule.Ratio{Of: some(3), To: some(3), Min: 0, Max: 0.2 + 2*r.Float64()})
		default:
			l := rule.Limit{Factors: make([]float64, n)}
			for i := range l.Factors {
				l.Factors[i] = float64(r.IntN(40))
			}
			at, wide := 5+30*r.Float64(), 0.1*math.Exp(4*r.Float64())
			l.Min, l.Max = at-wide, at+wide
			set.Rules = append(set.Rules, l)
		}
	}
	c, err := constraint.FromRules(set)
	if err != nil {
		return nil, err
	}
	space, all := c.CountableSpace()
	if all {
		return nil, nil
	}
	const most = 5
	table, err := count.New(ctx, space, count.Options{MaxUsed: most})
	if err != nil {
		return nil, err
	}
	sampler, err := table.Sampler(ctx)
	if err != nil {
		return nil, err
	}
	s := &shared{problem: volume.Problem{Space: space, Table: table, Sampler: sampler, Sums: c.UncountedSums()}}
	for size := 2; size <= most; size++ {
		if table.IsEmpty(size) {
			continue
		}
		kept, ok, err := c.CountFeasible(ctx, size)
		if err != nil {
			return nil, err
		}
		if !ok || kept == 0 {
			continue
		}
		s.sizes = append(s.sizes, size)
		s.exact = append(s.exact, math.Log(float64(kept))-table.LogCount(size))
	}
	if len(s.sizes) < 2 || slices.Max(s.exact) > -1e-9 {
		return nil, nil // nothing to measure
	}
	return s, nil
}

// A deviation is how far the shares of one measurement are off, as a mean over its sizes.
type deviation struct {
	share     float64 // of the log share, in stated errors
	relative  float64 // measured over exact, less 1
	ratio     float64 // of the log ratio of neighbours, in stated errors
	within    float64 // the share of sizes within two stated errors
	ratios    float64 // the share of ratios that are
	error     float64 // stated, of a log share
	missed    int     // sizes of which no composition was found
	neighbour int     // ratios that were measured
}

// deviate measures once.
func (s *shared) deviate(ctx context.Context, effort float64, seed uint64) (d deviation, err error) {
	result, err := volume.Measure(ctx, s.problem, volume.Options{Sizes: s.sizes, MaxMillionMoves: effort, Workers: 1, Stream: func(index uint64) volume.Rand {
		return mcmc.NewRand(seed, "calibration of shares", index)
	}})
	if err != nil {
		return d, err
	}
	found := 0
	for k, size := range result.Sizes {
		if !size.Found {
			d.missed++
			continue
		}
		found++
		z := (size.LogShare - s.exact[k]) / size.SE
		d.share += z
		d.error += size.SE
		d.relative += math.Expm1(size.LogShare - s.exact[k])
		d.within += one(math.Abs(z) <= 2)
		if k > 0 && result.Sizes[k-1].Found {
			z := (size.LogShare - s.exact[k] - result.Sizes[k-1].LogShare + s.exact[k-1]) / result.RatioSE(k, k-1)
			d.ratio += z
			d.ratios += one(math.Abs(z) <= 2)
			d.neighbour++
		}
	}
	if found > 0 {
		d.share, d.relative, d.within, d.error = d.share/float64(found), d.relative/float64(found), d.within/float64(found), d.error/float64(found)
	}
	if d.neighbour > 0 {
		d.ratio, d.ratios = d.ratio/float64(d.neighbour), d.ratios/float64(d.neighbour)
	}
	return d, nil
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// A meanOf is a mean of independent numbers and its standard error.
type meanOf struct{ n, sum, squares float64 }

func (m *meanOf) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *meanOf) mean() float64 { return m.sum / m.n }

func (m *meanOf) se() float64 {
	return math.Sqrt(max(m.squares/m.n-m.mean()*m.mean(), 0) / (m.n - 1))
}

func (m *meanOf) String() string { return fmt.Sprintf("%.3f ± %.3f", m.mean(), m.se()) }

// shares prints how far measured shares are off.
func shares(ctx context.Context, w io.Writer, p sharePlan) error {
	var all []*shared
	for k := uint64(0); len(all) < p.problems; k++ {
		s, err := newShared(ctx, rand.New(rand.NewPCG(p.seed, k)))
		if err != nil {
			return err
		}
		if s != nil {
			all = append(all, s)
		}
	}
	found := make([][]deviation, len(all))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(p.workers)
	for k, s := range all {
		found[k] = make([]deviation, p.seeds)
		for run := range p.seeds {
			work.Go(func() (err error) {
				found[k][run], err = s.deviate(ctx, p.effort, p.seed*1_000_000+uint64(k*p.seeds+run))
				return err
			})
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(w, "Measured shares against exact ones: %d problems, %d seeds of each, up to %g million moves.\nMeans over problems, each a mean over its seeds and sizes, with standard errors over problems.\n\n", p.problems, p.seeds, p.effort)
	fmt.Fprintln(w, "| stated error | problems | z of the log share | measured/exact − 1 | within 2 errors, % | z of log ratios | within 2, % | sizes not found |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, bin := range []struct {
		name        string
		least, most float64
	}{{"all", 0, math.Inf(1)}, {"below 0.02", 0, 0.02}, {"0.02 to 0.1", 0.02, 0.1}, {"above 0.1", 0.1, math.Inf(1)}} {
		var z, relative, within, ratio, ratios meanOf
		missed := 0
		for k := range found {
			var d deviation
			for _, one := range found[k] {
				part := 1 / float64(p.seeds)
				d.share, d.relative, d.within, d.error = d.share+part*one.share, d.relative+part*one.relative, d.within+part*one.within, d.error+part*one.error
				d.ratio, d.ratios, d.missed = d.ratio+part*one.ratio, d.ratios+part*one.ratios, d.missed+one.missed
			}
			if d.error < bin.least || d.error >= bin.most {
				continue
			}
			z.add(d.share)
			relative.add(d.relative)
			within.add(100 * d.within)
			ratio.add(d.ratio)
			ratios.add(100 * d.ratios)
			missed += d.missed
		}
		if z.n < 10 {
			continue
		}
		fmt.Fprintf(w, "| %s | %.0f | %v | %v | %.1f ± %.1f | %v | %.1f ± %.1f | %d |\n", bin.name, z.n, &z, &relative, within.mean(), within.se(), &ratio, ratios.mean(), ratios.se(), missed)
	}
	return nil
}
