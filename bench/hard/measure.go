package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/testonly/kernelbench"
	"kir/mcmc"
)

// A budget is how long is measured, in seconds by a subject's clock.
type budget struct {
	worth    float64 // the draws of each kernel
	find     float64 // that a seed may look for the best
	tempered float64 // the same for tempered
}

// full is what takes a quarter of an hour of all subjects.
var full = budget{worth: 4, find: 1, tempered: 2.5}

func (b budget) times(f float64) budget { return budget{f * b.worth, f * b.find, f * b.tempered} }

const (
	paper  = "accelerated" // Algorithm 2
	chains = 8             // in two regions, all begin in the same one once in 128 times

	seeds = 20 // that look for the best

	mostDraws = 25_000 // that a chain is looked at
	enough    = 40     // independent draws; the table shows a bound for a kernel that gave fewer
	rare      = 0.05   // a share of draws; an ingredient that fewer use is not looked at
	asGood    = 1e-6   // how far below the best log score the best has been found
)

// kernels are all but exact, which takes no properties; the paper's is the first.
var kernels = []string{paper, "gibbs", "naive", "balanced", "tempered"}

// finders are the kernels that are asked for the best.
var finders = []string{paper, "balanced", "tempered"}

// A speed is how many independent draws a second a kernel gives.
type speed struct {
	ess   float64
	below bool // it is less than that
	none  bool // the kernel is not valid for the target
	what  string
}

// measure measures one subject.
func measure(ctx context.Context, root string, s subject, b budget) (r row, err error) {
	m, err := s.make(ctx, root)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if s.stretch > 0 {
		b = b.times(s.stretch)
	}
	start := kernelbench.CPU()
	speeds, ladder, err := m.speeds(b)
	if err != nil {
		return r, err
	}
	r = row{name: s.name, speeds: speeds, ladder: ladder}
	for _, kernel := range finders {
		f, err := m.find(kernel, s.best-asGood, b)
		if err != nil {
			return r, err
		}
		r.finds = append(r.finds, f)
	}
	r.note = fmt.Sprintf("  %.0f s of processor time; worst of %s: %s", kernelbench.CPU()-start, paper, speeds[0].what)
	for k, kernel := range kernels[1:] {
		r.note += fmt.Sprintf(", of %s: %s", kernel, speeds[k+1].what)
	}
	return r, nil
}

// ladders is what the ladders of a tempered chain did.
type ladders struct {
	barrier    float64 // Λ of the first leg, on average
	learnt     float64 // and of the learnt one, over the chains that have it
	legs       int     // how many have
	roundTrips float64 // a second
}

// A followed kernel is what its chains drew.
type followed struct {
	seen    [][][]float64 // by chain, of each statistic
	seconds float64       // that all draws took
}

// speeds measures all kernels by the statistic that is worst of each.
func (m *made) speeds(b budget) ([]speed, ladders, error) {
	var ladder ladders
	c, err := m.settled("balanced", 0, b.worth/8)
	if err != nil {
		return nil, ladder, err
	}
	pace, err := kernelbench.IterationSeconds(m.clock, b.worth/8, c)
	if err != nil {
		return nil, ladder, err
	}
	used, shares, err := kernelbench.MostUsed(c, 1000, max(1, int(b.worth/8/pace[0]/1000)))
	if err != nil {
		return nil, ladder, err
	}
	for len(used) > 0 && shares[len(used)-1] < rare {
		used = used[:len(used)-1]
	}
	statistics := kernelbench.Statistics(m.target, used)
	all := make([]*followed, len(kernels))
	for k, kernel := range kernels {
		if all[k], err = m.follow(kernel, statistics, b, &ladder); err != nil && !errors.Is(err, mcmc.ErrReducible) {
			return nil, ladder, fmt.Errorf("%s: %w", kernel, err)
		}
	}
	// What no kernel saw change says nothing.
	kept := slices.Clone(statistics)[:0]
	for s := range statistics {
		if slices.ContainsFunc(all, func(f *followed) bool { return f != nil && f.varies(s) }) {
			for _, f := range all {
				f.keep(s, len(kept))
			}
			kept = append(kept, statistics[s])
		}
	}
	speeds := make([]speed, len(kernels))
	for k, f := range all {
		if f == nil {
			speeds[k].none = true
			continue
		}
		tau, what, err := kernelbench.SlowestStatistic(kept, f.seen...)
		if err != nil {
			return nil, ladder, fmt.Errorf("%s: %w", kernels[k], err)
		}
		ess := float64(chains*len(f.seen[0][0])) / tau
		speeds[k] = speed{ess: max(ess, 1) / f.seconds, below: !(ess >= enough), what: what}
	}
	return speeds, ladder, nil
}

// varies says whether a statistic was not always the same.
func (f *followed) varies(s int) bool {
	for _, c := range f.seen {
		for _, v := range c[s] {
			if v != f.seen[0][s][0] {
				return true
			}
		}
	}
	return false
}

// keep makes statistic s the one numbered as.
func (f *followed) keep(s, as int) {
	if f != nil {
		for _, c := range f.seen {
			c[as] = c[s]
		}
	}
}

// settled returns a chain after so many seconds of warm-up.
func (m *made) settled(kernel string, index int, seconds float64) (*mcmc.Chain, error) {
	sampler, err := mcmc.NewSampler(kernel, m.target)
	if err != nil {
		return nil, err
	}
	c, err := sampler.NewChain(1, index)
	if err != nil {
		return nil, err
	}
	for start, block := m.clock(), 1; m.clock()-start < seconds; block = min(2*block, 64) {
		if err := c.Warm(block); err != nil {
			return nil, err
		}
	}
	c.EndWarmup()
	return c, nil
}

// follow follows some chains of a kernel for the seconds of a budget.
func (m *made) follow(kernel string, statistics []kernelbench.Statistic, b budget, ladder *ladders) (*followed, error) {
	const warm, timed = 0.4, 0.1 // of the budget
	each := b.worth / chains
	all := make([]*mcmc.Chain, chains)
	for k := range all {
		var err error
		if all[k], err = m.settled(kernel, k, warm*each); err != nil {
			return nil, err
		}
	}
	paces, err := kernelbench.IterationSeconds(m.clock, timed*each, all...)
	if err != nil {
		return nil, err
	}
	pace := 0.0
	for _, p := range paces {
		pace += p / chains
	}
	iterations := max(20, int((1-warm-timed)*each/pace))
	draws := min(iterations, mostDraws)
	f := &followed{seconds: chains * pace * float64(iterations/draws*draws)}
	for _, c := range all {
		seen, err := kernelbench.Follow(c, statistics, draws, iterations/draws)
		if err != nil {
			return nil, err
		}
		f.seen = append(f.seen, seen)
		if l := c.Ladder(); l != nil {
			ladder.barrier += l.Barrier / chains
			trips := l.RoundTrips
			if leg := l.Learnt; leg != nil {
				trips += leg.RoundTrips
				ladder.legs++
				ladder.learnt += (leg.Barrier - ladder.learnt) / float64(ladder.legs)
			}
			ladder.roundTrips += float64(trips) / (chains * pace * float64(l.Scans))
		}
	}
	return f, nil
}

// A found is when the best known was found.
type found struct {
	seconds float64 // the median
	late    bool    // more than half of the seeds have not found it by then
}

// find measures how long a kernel takes to see a log score above a bar, from the
// start of a chain: the median over seeds. It ends when that is known.
func (m *made) find(kernel string, bar float64, b budget) (found, error) {
	limit := b.find
	if kernel == "tempered" {
		limit = b.tempered
	}
	sampler, err := mcmc.NewSampler(kernel, m.target)
	if errors.Is(err, mcmc.ErrReducible) {
		return found{math.NaN(), true}, nil
	}
	if err != nil {
		return found{}, err
	}
	var took []float64
	for seed, missed := 1, 0; seed <= seeds; seed++ {
		seconds, err := m.untilFound(sampler, uint64(seed), bar, limit)
		if err != nil {
			return found{}, err
		}
		took = append(took, seconds)
		if math.IsInf(seconds, 1) {
			missed++
		}
		if 2*missed > seeds {
			return found{limit, true}, nil
		}
	}
	slices.Sort(took)
	middle := (took[(seeds-1)/2] + took[seeds/2]) / 2
	return found{min(middle, limit), math.IsInf(middle, 1)}, nil
}

// untilFound returns after how many seconds a chain has seen a log score above a bar,
// +Inf if it has not within the limit. Warm-up goes on all the time: only what it
// draws is no sample.
func (m *made) untilFound(sampler mcmc.Sampler, seed uint64, bar, limit float64) (float64, error) {
	const between = 32 // looks at the clock
	start := m.clock()
	c, err := sampler.NewChain(seed, 0)
	if err != nil {
		return 0, err
	}
	met := false
	for m.clock()-start < limit {
		searches := c.RecordVisited(bar) // again, as ladders grow
		for range between {
			if err := c.Warm(1); err != nil {
				return 0, err
			}
			met = c.State.LogScore() > bar
			if searches && !met {
				err = c.DrainVisited(func(mcmc.VisitedState) error { met = true; return nil })
			}
			if err != nil {
				return 0, err
			}
			if met {
				return m.clock() - start, nil
			}
			if searches {
				break // a scan is long
			}
		}
	}
	return math.Inf(1), nil
}

// lookFor returns the highest log score that tempered chains see in so many seconds.
func lookFor(ctx context.Context, root string, s subject, seconds float64) (best float64, err error) {
	m, err := s.make(ctx, root)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	sampler, err := mcmc.NewSampler("tempered", m.target)
	if err != nil {
		return 0, err
	}
	best = math.Inf(-1)
	for seed := range uint64(chains) {
		c, err := sampler.NewChain(100+seed, 0)
		if err != nil {
			return 0, err
		}
		for start := m.clock(); m.clock()-start < seconds/chains; {
			c.RecordVisited(best)
			if err := c.Warm(1); err != nil {
				return 0, err
			}
			if err := c.DrainVisited(func(f mcmc.VisitedState) error { best = max(best, f.LogScore); return nil }); err != nil {
				return 0, err
			}
		}
	}
	return best, nil
}
