package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/config"
	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/mcmc"
)

// sampleOptions are the flags of kir sample.
type sampleOptions struct {
	runOptions
	outputDirectory, shard string
	effort                 float64
	changeFlags            changeFlags
	settings               mcmc.Settings
	draws                  drawsFlag
	timeLimit              timeFlag
	noCache                bool
	tasks                  bool
}

func newSampleCommand() *cobra.Command {
	o := &sampleOptions{settings: mcmc.DefaultSettings(), draws: mcmc.AutoDraws, timeLimit: timeFlag(compile.DefaultTime)}
	c := &cobra.Command{
		Use:   "sample PROBLEM|RUN [-o RUN] [--pin NAME] [--exclude NAME] [--min NAME=A] [--max NAME=A] [--set NAME=V] [--near K]",
		Short: "Draw random recipes (draws) in proportion to their score, and search for the best",
		Long: `Draw random recipes (draws) in proportion to their score, and keep them all. kir sample
then searches for the best new recipes (the shortlist). It prints them, how far to trust
them, and where the files are. Flags override the problem file.

The directory of the run contains the draws (Parquet files; kir draws prints them as
CSV), the problem with all defaults written out, summary.json, and report.html. kir
resume continues an interrupted run.

To change the problem for the next run, add constraints with --pin, --exclude, --min,
--max and --near. --set fixes a condition, a setting of the trial such as temperature.
With a RUN in place of PROBLEM, kir reuses the problem file of that run, and its --seed,
--chains, --warmup, --draws, --thin and --effort. --pin 3:Gin then fixes Gin at its
amount in recipe 3 of the shortlist. kir prints the changes and saves the changed
problem beside the old one, with its comments. Sampling the saved file gives the same
draws.

kir draws in several independent sampling runs (chains), which machines can share.
--tasks only prepares the run; kir tasks then prints its work, as commands for any engine.
--shard 3/16 runs part 3 of 16 of the chains (a shard); run the other parts on other
machines. Give each machine the same RUN: a directory that they share, or cloud storage
(an S3 bucket), written s3://bucket/prefix. Add ?endpoint=https://host if the bucket is
not Amazon's. After an interruption, repeat the command of the shard. --shard auto takes
part and number of parts from Slurm, Kubernetes or AWS Batch. The parts of a Slurm array
are its indices, from 1; --array=3 alone repeats part 3. kir status shows the progress,
and kir merge writes the summary at the end. Sharing a run does not change its draws.`,
		Example: `  kir sample examples/cocktails/problem.yaml
  kir sample problem.yaml -o runs/long --draws 1000000 --seed 7
  kir sample problem.yaml --json | jq .best[0].recipe
  kir sample runs/fresh-all-day-cocktails-1 --pin 3:Gin --exclude "Lemon juice"
  kir sample runs/fresh-all-day-cocktails-1 --near 3=1
  kir sample problem.yaml --min "Gin=20%" --max "Lime juice=3%"
  kir sample examples/bread/problem.yaml --set temperature=180
  kir sample problem.yaml -o shared/long --chains 64 --tasks
  kir sample problem.yaml -o shared/long --chains 64 --shard 3/16`,
		Args:              requireOneArg("problem file or run"),
		ValidArgsFunction: completeProblemsAndRuns,
		RunE:              o.run,
	}
	o.addFlags(c)
	return c
}

func (o *sampleOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.outputDirectory, "output", "o", "", "new `RUN`: a directory, or cloud storage, s3://bucket/prefix (default: a directory in runs/)")
	c.Flags().StringVar(&o.shard, "shard", "", "run only part K of S of the chains, `K/S`; auto: as the cluster numbers its jobs (Slurm, Kubernetes, AWS Batch)")
	c.Flags().BoolVar(&o.tasks, "tasks", false, "draw nothing yet: kir tasks prints the work of the run, as commands for other machines")
	c.Flags().StringVar(&o.settings.Kernel, "kernel", "auto", "sampling algorithm, `KERNEL`: "+strings.Join(kernelNames(), ", ")+"; auto: as kir check recommends; docs/kernels.md describes the others")
	c.Flags().IntVar(&o.settings.Chains, "chains", o.settings.Chains, "`NUMBER` of independent sampling runs (chains)")
	c.Flags().IntVar(&o.settings.Warmup, "warmup", o.settings.Warmup, "`NUMBER` of first steps of a chain, thrown away (warm-up); a maximum with --draws auto")
	c.Flags().Var(&o.draws, "draws", "`NUMBER` of draws per chain; auto: until the estimates are precise enough (docs/diagnostics.md), or --time ends")
	c.Flags().Var(&o.timeLimit, "time", "time limit of sampling and search with --draws auto, a `DURATION` such as 5m; none: no limit")
	c.Flags().IntVar(&o.settings.Thin, "thin", o.settings.Thin, "`NUMBER` of sampling steps from one draw to the next")
	c.Flags().Uint64Var(&o.settings.Seed, "seed", o.settings.Seed, "start of the random numbers; the same `NUMBER` gives the same result, unless --time ends the run")
	c.Flags().Float64Var(&o.effort, "effort", 1, "length of the search for the best recipes, as a `MULTIPLE` of the usual; 0: none")
	addNoCacheFlag(c, &o.noCache)
	o.changeFlags.addTo(c)
	o.addRunFlags(c)
	must(c.RegisterFlagCompletionFunc("kernel", cobra.FixedCompletions(kernelNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.MarkFlagDirname("output"))
}

// run samples a problem: all its chains, or one of several parts of the chains. If flags request changes, it
// first changes the problem.
func (o *sampleOptions) run(c *cobra.Command, args []string) (err error) {
	effort, err := effortFlagValue(c, o.effort)
	if err != nil {
		return err
	}
	file, dir := args[0], o.outputDirectory
	var changed []byte
	if o.changeFlags.isSet() || isRun(file) {
		if o.shard != "" || o.tasks {
			return &inputerr.Error{Message: "--shard and --tasks are for a run that all machines know", Hint: "sample the changed problem file, the same for all of them"}
		}
		if file, changed, dir, err = o.changeFlags.buildChangedProblem(c, file, o.outputDirectory, o.settingsOverride(c), effort, o.quiet); err != nil {
			return err
		}
	}
	p, err := o.loadProblem(c, file, changed, effort)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	o.problem = p
	if text := p.LeftOut(); text != "" && !o.quiet && !o.progressJSON {
		fmt.Fprintln(c.ErrOrStderr(), terminal.EscapeControls(text))
	}
	if (o.shard != "" || o.tasks) && c.Flags().Changed("time") && o.timeLimit > 0 {
		return &inputerr.Error{Message: "machines cannot share a time limit: the number of draws would depend on their speed", Hint: "leave out --time; draws: auto ends when the estimates are precise enough"}
	}
	if o.shard != "" {
		if o.outputDirectory == "" {
			return &inputerr.Error{Message: "--shard is one of several parts of a run", Hint: "name the run with -o, the same for all of them"}
		}
		return o.runShard(c, o.shard, o.outputDirectory)
	}
	if dir, err = namedOrFreeRunDirectory(dir, p.Name); err != nil {
		return err
	}
	if o.tasks {
		return o.prepareTasks(c, p, dir)
	}
	if changed != nil {
		return o.runChangedProblem(c, p, dir, file, changed)
	}
	return o.runChains(c, p, dir, run.Start)
}

// settingsOverride returns a function that replaces those settings of a problem that flags set.
func (o *sampleOptions) settingsOverride(c *cobra.Command) func(*mcmc.Settings) {
	return func(given *mcmc.Settings) {
		for _, f := range []struct {
			name string
			set  func()
		}{
			{"kernel", func() { given.Kernel = o.settings.Kernel }},
			{"chains", func() { given.Chains = o.settings.Chains }},
			{"warmup", func() { given.Warmup = o.settings.Warmup }},
			{"draws", func() {
				if given.Draws = int(o.draws); o.draws == mcmc.AutoDraws {
					given.Thin = 1
				}
			}},
			{"thin", func() { given.Thin = o.settings.Thin }},
			{"seed", func() { given.Seed = o.settings.Seed }},
		} {
			if c.Flags().Changed(f.name) {
				f.set()
			}
		}
	}
}

// loadProblem loads the problem file. If changed is not nil, it is used instead of the text of the file.
func (o *sampleOptions) loadProblem(c *cobra.Command, file string, changed []byte, effort *float64) (*compile.Problem, error) {
	d := newSpinner(c.Context(), c.ErrOrStderr(), o.quiet)
	defer d.endWork()
	limit := timeLimitFlagValue(c, o.timeLimit)
	if o.shard != "" || o.tasks {
		limit = new(time.Duration) // machines cannot share one
	}
	p, err := compileProblem(c.Context(), file, d, !o.quiet && !o.progressJSON, compile.Options{
		Text:            changed,
		Workers:         o.workers,
		Effort:          effort,
		Time:            limit,
		CacheCounts:     !o.noCache,
		Notify:          d.printMessage,
		Progress:        d.beginWork,
		OverrideSampler: o.settingsOverride(c),
	})
	if err != nil {
		return nil, err
	}
	if p.Time == compile.DefaultTime && hasCustomDelay(c.Context()) {
		p.Time = 0
	}
	return p, nil
}

// runChangedProblem writes the text of a changed problem to a file and runs the problem. If the run does not
// start, it removes the file.
func (o *sampleOptions) runChangedProblem(c *cobra.Command, p *compile.Problem, dir, file string, text []byte) error {
	if err := createFile(file, text); err != nil {
		return fmt.Errorf("writing the changed problem: %w; name another place with --save", err)
	}
	err := o.runChains(c, p, dir, run.Start)
	if exists := (*run.ExistsError)(nil); err != nil && (errors.As(err, &exists) || !isRun(dir)) {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// effortFlagValue returns the value of the flag --effort, or nil if the flag is not set.
func effortFlagValue(c *cobra.Command, effort float64) (*float64, error) {
	if !c.Flags().Changed("effort") {
		return nil, nil
	}
	if !(effort >= 0 && effort <= config.MaxEffort) {
		return nil, &inputerr.Error{Message: fmt.Sprintf("--effort is %v", effort), Hint: fmt.Sprintf("it must be from 0, for no search, to %d", config.MaxEffort)}
	}
	return &effort, nil
}

// A drawsFlag is the value of the flag --draws: a number of draws, or auto.
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

// A timeFlag is the value of the flag --time, the time limit of the chains; 0 means no limit.
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

// timeLimitFlagValue returns the value of the flag --time, or nil if the flag is not set.
func timeLimitFlagValue(c *cobra.Command, limit timeFlag) *time.Duration {
	if !c.Flags().Changed("time") {
		return nil
	}
	d := time.Duration(limit)
	return &d
}

// addNoCacheFlag adds the flag --no-cache to a command that counts the compositions of a problem. The help text
// is then the same for all these commands.
func addNoCacheFlag(c *cobra.Command, off *bool) {
	c.Flags().BoolVar(off, "no-cache", false, "count the possible recipes anew, without the stored counts in .kir-cache")
}

// kernelNames returns the names that the flag --kernel accepts.
func kernelNames() []string { return append([]string{"auto"}, mcmc.KernelNames()...) }
