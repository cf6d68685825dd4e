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

// iterationCosts maps the name of a kernel to the approximate duration of one iteration, in nanoseconds.
var iterationCosts = map[string]int64{
	KernelNaive:       130,
	KernelGibbs:       25,
	KernelAccelerated: 40,
	"cocktail chain":  3500,
	"cocktail blind":  3000,
}

// A sequenceTask is one sequence to run.
type sequenceTask struct {
	description   string                                                     // text for Progress
	iterations    int                                                        // number of iterations of the sequence
	iterationCost int64                                                      // approximate duration of one iteration, in nanoseconds
	run           func(ctx context.Context, tick func(iterations int)) error // runs the sequence, and calls tick from time to time with the number of iterations since the last call
}

// Run runs all experiments and returns the report. If ctx ends first, Run returns the error of the context.
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
	runs, tasks, err := planRuns(o, settings)
	if err != nil {
		return nil, err
	}
	var lab *cocktailExperiment
	if o.Book != nil {
		if lab, err = newCocktailLab(ctx, o); err != nil {
			return nil, err
		}
		tasks = append(tasks, lab.planSequences(o)...)
	}
	if err := runTasks(ctx, o, tasks); err != nil {
		return nil, err
	}
	return buildReport(o, settings, runs, lab)
}

// planRuns lists the runs of kernels on the targets of the settings, and returns a task for each sequence of each
// run.
func planRuns(o Options, settings []Setting) ([]*kernelRun, []sequenceTask, error) {
	var runs []*kernelRun
	var tasks []sequenceTask
	for q := range settings {
		s := &settings[q]
		for _, law := range s.Targets {
			target, err := s.Target(law)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", law.Name, err)
			}
			for _, name := range []string{KernelNaive, KernelGibbs, KernelAccelerated} {
				r := &kernelRun{setting: s, lawTarget: law, kernel: name, target: target, sequences: make([]*sequenceStats, sequenceCount), unfinishedCount: sequenceCount}
				more, err := r.planSequences(o.Seed)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", law.Name, err)
				}
				runs, tasks = append(runs, r), append(tasks, more...)
			}
		}
	}
	return runs, tasks, nil
}

// planSequences returns a task for each sequence of the run.
func (r *kernelRun) planSequences(seed uint64) (tasks []sequenceTask, err error) {
	k, err := mcmc.NewKernel(r.kernel, r.target)
	if err != nil {
		return nil, err
	}
	s := r.setting
	// Each run has seeds of its own, so that no two sequences share random numbers.
	own := mcmc.NewRand(seed, "paper "+r.lawTarget.Name+" "+r.kernel, 0).Uint64()
	for index := range sequenceCount {
		tasks = append(tasks, sequenceTask{r.lawTarget.Name + ", " + r.kernel, s.Iterations, iterationCosts[r.kernel], func(ctx context.Context, tick func(int)) error {
			x, err := runSequence(ctx, r.target, k, own, index, s.Discarded, s.Iterations-s.Discarded, tick)
			if err != nil {
				return fmt.Errorf("%s: %w", r.lawTarget.Name, err)
			}
			return r.add(index, x)
		}})
	}
	return tasks, nil
}

// planSequences returns a task for each sequence of the cocktail experiment.
func (lab *cocktailExperiment) planSequences(o Options) []sequenceTask {
	var tasks []sequenceTask
	chain := mcmc.NewRand(o.Seed, "paper cocktail chain", 0).Uint64()
	blind := mcmc.NewRand(o.Seed, "paper cocktail blind", 0).Uint64()
	c := &lab.result
	for index := range sequenceCount {
		tasks = append(tasks, sequenceTask{"cocktails, accelerated", c.Iterations, iterationCosts["cocktail chain"], func(ctx context.Context, tick func(int)) error {
			return lab.runChain(ctx, chain, index, tick)
		}})
	}
	for index := range sequenceCount {
		tasks = append(tasks, sequenceTask{"cocktails, random", c.Iterations - c.Discarded, iterationCosts["cocktail blind"], func(ctx context.Context, tick func(int)) error {
			return lab.runIndependent(ctx, blind, index, tick)
		}})
	}
	return tasks
}

// runTasks runs the tasks on a pool of workers.
func runTasks(ctx context.Context, o Options, tasks []sequenceTask) error {
	total := int64(0)
	for _, t := range tasks {
		total += int64(t.iterations) * t.iterationCost
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
				done += int64(iterations) * t.iterationCost
				o.Progress(done, total, t.description)
			})
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err() // ctx may have ended when no task was running
}

// buildReport builds the report from the finished runs and the finished cocktail experiment lab, which may be
// nil.
func buildReport(o Options, settings []Setting, runs []*kernelRun, lab *cocktailExperiment) (*Report, error) {
	r := &Report{
		Source:    "Obara, Morimura, Yanagisawa (2019): Sampler for Composition Ratio by Markov Chain Monte Carlo. arXiv 1906.06663",
		Seed:      o.Seed,
		Sequences: sequenceCount,
		Divide:    o.Divide,
		Counts:    newCountTable(),
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
			r.Figures = append(r.Figures, x.histogram)
			table.Rows = append(table.Rows, x.rateRows...)
			if x.kernel == KernelAccelerated {
				tau, err := IACTBound(x.target)
				if err != nil {
					return nil, err
				}
				r.Mixing = append(r.Mixing, Mixing{x.lawTarget.Name, tau, float64(s.Iterations-s.Discarded) / tau})
			}
		}
		r.Tables = append(r.Tables, table)
	}
	r.Verdict = summarizeRates(r.Tables)
	if lab != nil {
		c, err := lab.summarize()
		if err != nil {
			return nil, err
		}
		r.Cocktails = c
	}
	r.Differences = listDifferences(r.Cocktails)
	return r, nil
}

// zLimit is the number of standard errors beyond which a rate counts as an alarm.
const zLimit = 4

// summarizeRates summarises the rows of all tables.
func summarizeRates(tables []Table) Verdict {
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
