package paper

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"kir/internal/portable"
	"kir/mcmc"
)

// cost is the approximate duration of one iteration of each kernel, in nanoseconds.
var cost = map[string]int64{
	KernelNaive:       130,
	KernelGibbs:       25,
	KernelAccelerated: 40,
	"cocktail chain":  3500,
	"cocktail blind":  3000,
}

// A task is one sequence to run.
type task struct {
	description string
	iterations  int
	cost        int64 // nanoseconds of one iteration
	run         func(ctx context.Context, tick func(iterations int)) error
}

// Run runs all experiments and returns the report. It returns the context's error if ctx ends first.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Divide == 0 {
		o.Divide = 1
	}
	if o.Divide < 1 || o.Divide > 1000 {
		return nil, fmt.Errorf("sequences cannot be divided by %d: that must be 1 to 1000", o.Divide)
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	settings := Settings()
	for k := range settings {
		settings[k].Iterations /= o.Divide
		settings[k].Discarded /= o.Divide
	}
	runs, tasks, err := plan(o, settings)
	if err != nil {
		return nil, err
	}
	var lab *cocktailLab
	if o.Book != nil {
		if lab, err = newCocktailLab(ctx, o); err != nil {
			return nil, err
		}
		tasks = append(tasks, lab.plan(o)...)
	}
	if err := work(ctx, o, tasks); err != nil {
		return nil, err
	}
	return report(o, settings, runs, lab)
}

// plan lists the runs on laws of n and their sequences.
func plan(o Options, settings []Setting) ([]*run, []task, error) {
	var runs []*run
	var tasks []task
	for q := range settings {
		s := &settings[q]
		for _, law := range s.Targets {
			target, err := s.Target(law)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", law.Name, err)
			}
			for _, name := range []string{KernelNaive, KernelGibbs, KernelAccelerated} {
				r := &run{setting: s, law: law, kernel: name, target: target, sequences: make([]*sequence, sequenceCount), left: sequenceCount}
				more, err := r.plan(o.Seed)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", law.Name, err)
				}
				runs, tasks = append(runs, r), append(tasks, more...)
			}
		}
	}
	return runs, tasks, nil
}

// plan returns a task for each sequence of the run.
func (r *run) plan(seed uint64) (tasks []task, err error) {
	k, err := mcmc.NewKernel(r.kernel, r.target)
	if err != nil {
		return nil, err
	}
	s := r.setting
	// Each run has seeds of its own, so that no two sequences share random numbers.
	own := mcmc.NewRand(seed, "paper "+r.law.Name+" "+r.kernel, 0).Uint64()
	for index := range sequenceCount {
		tasks = append(tasks, task{r.law.Name + ", " + r.kernel, s.Iterations, cost[r.kernel], func(ctx context.Context, tick func(int)) error {
			x, err := runSequence(ctx, r.target, k, own, index, s.Discarded, s.Iterations-s.Discarded, tick)
			if err != nil {
				return fmt.Errorf("%s: %w", r.law.Name, err)
			}
			return r.add(index, x)
		}})
	}
	return tasks, nil
}

// plan returns a task for each sequence of the cocktail experiment.
func (lab *cocktailLab) plan(o Options) []task {
	var tasks []task
	chain := mcmc.NewRand(o.Seed, "paper cocktail chain", 0).Uint64()
	blind := mcmc.NewRand(o.Seed, "paper cocktail blind", 0).Uint64()
	c := &lab.result
	for index := range sequenceCount {
		tasks = append(tasks, task{"cocktails, accelerated", c.Iterations, cost["cocktail chain"], func(ctx context.Context, tick func(int)) error {
			return lab.runChain(ctx, chain, index, tick)
		}})
	}
	for index := range sequenceCount {
		tasks = append(tasks, task{"cocktails, random", c.Iterations - c.Discarded, cost["cocktail blind"], func(ctx context.Context, tick func(int)) error {
			return lab.runIndependent(ctx, blind, index, tick)
		}})
	}
	return tasks
}

// work runs the tasks on a pool of workers.
func work(ctx context.Context, o Options, tasks []task) error {
	total := int64(0)
	for _, t := range tasks {
		total += int64(t.iterations) * t.cost
	}
	var mutex sync.Mutex
	done := int64(0)
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(o.Workers)
	for _, t := range tasks {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			return t.run(running, func(iterations int) {
				if o.Progress == nil {
					return
				}
				mutex.Lock()
				defer mutex.Unlock()
				done += int64(iterations) * t.cost
				o.Progress(done, total, t.description)
			})
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err() // ctx may have ended when no task was running
}

// report builds the report from the finished runs and the cocktail experiment.
func report(o Options, settings []Setting, runs []*run, lab *cocktailLab) (*Report, error) {
	r := &Report{
		Source:    "Obara, Morimura, Yanagisawa (2019): Sampler for Composition Ratio by Markov Chain Monte Carlo. arXiv 1906.06663",
		Seed:      o.Seed,
		Sequences: sequenceCount,
		Divide:    o.Divide,
		Counts:    countTable(),
	}
	for q := range settings {
		s := &settings[q]
		table := Table{
			Name: s.Name, Title: fmt.Sprintf("N = %d, M = %d", s.N, s.Total), Unit: "%",
			N: s.N, Total: s.Total, Iterations: s.Iterations, Discarded: s.Discarded,
		}
		for _, x := range runs {
			if x.setting != s {
				continue
			}
			r.Figures = append(r.Figures, x.figure)
			table.Rows = append(table.Rows, x.rows...)
			if x.kernel == KernelAccelerated {
				tau, err := IACTBound(x.target)
				if err != nil {
					return nil, err
				}
				r.Mixing = append(r.Mixing, Mixing{x.law.Name, tau, float64(s.Iterations-s.Discarded) / tau})
			}
		}
		r.Tables = append(r.Tables, table)
	}
	r.Verdict = verdict(r.Tables)
	if lab != nil {
		c, err := lab.summarize()
		if err != nil {
			return nil, err
		}
		r.Cocktails = c
	}
	r.Differences = differences(r.Cocktails)
	return r, nil
}

// zLimit is the number of standard errors beyond which a rate counts as an alarm.
const zLimit = 4

// verdict summarises the rows of all tables.
func verdict(tables []Table) Verdict {
	v := Verdict{Limit: zLimit, Beyond: []Row{}}
	for _, t := range tables {
		for _, row := range t.Rows {
			if math.Abs(row.Z) > zLimit {
				v.Beyond = append(v.Beyond, row)
			}
			if row.SD == 0 {
				continue // a rate without spread is not counted
			}
			v.Rates++
			if v.Rates == 1 || math.Abs(row.Z) > math.Abs(v.Largest.Z) {
				v.Largest = row
			}
		}
	}
	v.FalseAlarm = float64(2 * portable.StudentTail(sequenceCount-1, zLimit))
	v.AnyAlarm = 1 - portable.Pow(1-v.FalseAlarm, float64(v.Rates))
	return v
}
