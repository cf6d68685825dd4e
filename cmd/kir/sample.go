package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kir/internal/config"
	"kir/internal/inputerr"
	"kir/internal/problem"
	"kir/internal/run"
	"kir/mcmc"
)

func newSampleCommand() *cobra.Command {
	var out, shard string
	var effort float64
	var moves moveFlags
	var o runOptions
	var noCache bool
	draws, limit := drawsFlag(mcmc.AutoDraws), timeFlag(problem.DefaultTime)
	s := mcmc.DefaultSettings()
	c := &cobra.Command{
		Use:   "sample PROBLEM|RUN [-o RUN] [--pin NAME] [--exclude NAME] [--min NAME=A] [--max NAME=A] [--near K]",
		Short: "Sample a problem: draws, shortlist and report",
		Long: `Run the chains that a problem file asks for, keep every draw, and print what was
found: the best new recipes, how far to trust them, and where the files are. Flags
override the problem file.

The run's directory gets the draws (Parquet), the resolved problem, summary.json,
and report.html to look at. kir resume continues an interrupted run.

The next move: --pin, --exclude, --min, --max and --near add constraints. With a RUN in
place of the problem its settings stay, but for a kernel that the problem does not
name, and --pin 3:Gin pins Gin at its amount in recipe 3 of the shortlist. The changed
problem is shown as a difference and written beside the old one, with its comments;
sampled again, it gives the same draws.

With --shard 3/16 only the third of sixteen parts of the chains is run, by as many
machines as there are. All name the same RUN, a directory that they share or a
bucket: s3://bucket/prefix?endpoint=https://host for those that are not Amazon's.
The same command continues after an interruption; kir status says how far all are,
and kir merge makes the summary when they are done. Each draw is the same as in one
run.`,
		Example: `  kir sample examples/cocktails/problem.yaml
  kir sample problem.yaml -o runs/long --draws 1000000 --seed 7
  kir sample problem.yaml --json | jq .best[0].recipe
  kir sample runs/fresh-all-day-cocktails-1 --pin 3:Gin --exclude "Lemon juice"
  kir sample runs/fresh-all-day-cocktails-1 --near 3=1
  kir sample problem.yaml --min "Gin=20%" --max "Lime juice=3%"
  kir sample problem.yaml -o shared/long --chains 64 --draws 100000 --shard 3/16`,
		Args:              exactlyOneArg("problem file or run"),
		ValidArgsFunction: completeProblemsAndRuns,
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		changed := c.Flags().Changed
		looked, err := effortOf(c, effort)
		if err != nil {
			return err
		}
		override := func(given *mcmc.Settings) {
			for _, f := range []struct {
				name string
				set  func()
			}{
				{"kernel", func() { given.Kernel = s.Kernel }},
				{"chains", func() { given.Chains = s.Chains }},
				{"warmup", func() { given.Warmup = s.Warmup }},
				{"draws", func() {
					if given.Draws = int(draws); draws == mcmc.AutoDraws {
						given.Thin = 1
					}
				}},
				{"thin", func() { given.Thin = s.Thin }},
				{"seed", func() { given.Seed = s.Seed }},
			} {
				if changed(f.name) {
					f.set()
				}
			}
		}
		file, dir := args[0], out
		var text []byte
		if moves.isSet() || isRun(file) {
			if shard != "" {
				return &inputerr.Error{Message: "--shard is a part of a run that all know", Hint: "sample the changed problem file, the same for all of them"}
			}
			if file, text, dir, err = moves.changedProblem(c, file, out, override, looked, o.quiet); err != nil {
				return err
			}
		}
		d := newSpinner(c.Context(), c.ErrOrStderr(), o.quiet)
		defer d.end()
		p, err := compileProblem(c.Context(), file, d, !(o.quiet || o.progressJSON), problem.Options{
			Text:     text,
			Workers:  o.workers,
			Effort:   looked,
			Time:     timeOf(c, limit),
			Cache:    !noCache,
			Notify:   d.tell,
			Progress: d.begin,
			Override: override,
		})
		if err != nil {
			return err
		}
		d.end()
		defer func() { err = errors.Join(err, p.Close()) }()
		o.problem = p
		if p.Time == problem.DefaultTime && hasOwnDelay(c.Context()) {
			p.Time = 0
		}
		if shard != "" {
			if out == "" {
				return &inputerr.Error{Message: "--shard is one of several parts of a run", Hint: "name the run with -o, the same for all of them"}
			}
			return o.shard(c, shard, out)
		}
		if dir, err = runDirectory(dir, p.Name); err != nil {
			return err
		}
		if text != nil {
			if err := writeNew(file, text); err != nil {
				return fmt.Errorf("writing the changed problem: %w; name another place with --save", err)
			}
		}
		err = o.runChains(c, p, dir, run.Start)
		if exists := (*run.ExistsError)(nil); err != nil && text != nil && (errors.As(err, &exists) || !isRun(dir)) {
			err = errors.Join(err, os.Remove(file))
		}
		return err
	}
	c.Flags().StringVarP(&out, "output", "o", "", "directory or s3://bucket/prefix of the run, which must not exist (default: a new one in runs/)")
	c.Flags().StringVar(&shard, "shard", "", "run only the K-th of S parts of the chains, `K/S`, or auto by the variables of Slurm, Kubernetes or AWS Batch; kir merge joins them")
	c.Flags().StringVar(&s.Kernel, "kernel", "auto", "kernel: "+strings.Join(kernelNames(), ", ")+"; auto tries and takes what kir check recommends")
	c.Flags().IntVar(&s.Chains, "chains", s.Chains, "chains")
	c.Flags().IntVar(&s.Warmup, "warmup", s.Warmup, "iterations of each chain before the first draw, with --draws auto as many at most")
	c.Flags().Var(&draws, "draws", "draws to keep of each chain; `NUMBER`, or auto: until the figures are good enough")
	c.Flags().Var(&limit, "time", "`DURATION` after which chains stop whose draws are auto, such as 5m, or none")
	c.Flags().IntVar(&s.Thin, "thin", s.Thin, "iterations from one draw to the next")
	c.Flags().Uint64Var(&s.Seed, "seed", s.Seed, "seed of all random choices")
	c.Flags().Float64Var(&effort, "effort", 1, "how much looking for the best stands beside the draws; 0 for none")
	noCacheFlag(c, &noCache)
	moves.add(c)
	o.flags(c)
	must(c.RegisterFlagCompletionFunc("kernel", cobra.FixedCompletions(kernelNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.MarkFlagDirname("output"))
	return c
}

// effortOf returns the effort of a flag, nil if it was not given.
func effortOf(c *cobra.Command, effort float64) (*float64, error) {
	if !c.Flags().Changed("effort") {
		return nil, nil
	}
	if !(effort >= 0 && effort <= config.MaxEffort) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("--effort is %v", effort), Hint: fmt.Sprintf("it must be from 0, for no search, to %d", config.MaxEffort)}
	}
	return &effort, nil
}

// A drawsFlag is a number of draws, or auto.
type drawsFlag int

func (f *drawsFlag) Type() string { return "number" }

func (f *drawsFlag) String() string {
	if *f == mcmc.AutoDraws {
		return "auto"
	}
	return strconv.Itoa(int(*f))
}

func (f *drawsFlag) Set(text string) error {
	v, err := config.ReadDraws(text)
	*f = drawsFlag(v)
	return err
}

// A timeFlag is the time limit of the chains, 0 for none.
type timeFlag time.Duration

func (f *timeFlag) Type() string { return "duration" }

func (f *timeFlag) String() string {
	if *f == 0 {
		return "none"
	}
	return time.Duration(*f).String()
}

func (f *timeFlag) Set(text string) error {
	v, err := config.ReadTime(text)
	*f = timeFlag(v)
	return err
}

// timeOf returns the time limit of a flag, nil if it was not given.
func timeOf(c *cobra.Command, limit timeFlag) *time.Duration {
	if !c.Flags().Changed("time") {
		return nil
	}
	d := time.Duration(limit)
	return &d
}

// noCacheFlag adds the flag --no-cache, the same for every command that counts a problem with
// rules.
func noCacheFlag(c *cobra.Command, off *bool) {
	c.Flags().BoolVar(off, "no-cache", false, "work out how many compositions keep the rules anew, and keep nothing in .kir-cache beside the problem")
}

// kernelNames returns the kernels that a flag may name.
func kernelNames() []string { return append([]string{"auto"}, mcmc.KernelNames()...) }
