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
}

func newSampleCommand() *cobra.Command {
	o := &sampleOptions{settings: mcmc.DefaultSettings(), draws: mcmc.AutoDraws, timeLimit: timeFlag(compile.DefaultTime)}
	c := &cobra.Command{
		Use:   "sample PROBLEM|RUN [-o RUN] [--pin NAME] [--exclude NAME] [--min NAME=A] [--max NAME=A] [--set NAME=V] [--near K]",
		Short: "Sample a problem: draws, shortlist and report",
		Long: `Run the chains that a problem file asks for, keep every draw, and print what was
found: the best new recipes, how far to trust them, and where the files are. Flags
override the problem file.

The run's directory gets the draws (Parquet), the resolved problem, summary.json,
and report.html to look at. kir resume continues an interrupted run.

The next move: --pin, --exclude, --min, --max and --near add constraints, and --set
gives a condition one value. With a RUN in
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
  kir sample examples/bread/problem.yaml --set temperature=180
  kir sample problem.yaml -o shared/long --chains 64 --draws 100000 --shard 3/16`,
		Args:              requireOneArg("problem file or run"),
		ValidArgsFunction: completeProblemsAndRuns,
		RunE:              o.run,
	}
	o.addFlags(c)
	return c
}

func (o *sampleOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.outputDirectory, "output", "o", "", "directory or s3://bucket/prefix of the run, which must not exist (default: a new one in runs/)")
	c.Flags().StringVar(&o.shard, "shard", "", "run only the K-th of S parts of the chains, `K/S`, or auto by the variables of Slurm, Kubernetes or AWS Batch; kir merge joins them")
	c.Flags().StringVar(&o.settings.Kernel, "kernel", "auto", "kernel: "+strings.Join(kernelNames(), ", ")+"; auto tries and takes what kir check recommends")
	c.Flags().IntVar(&o.settings.Chains, "chains", o.settings.Chains, "chains")
	c.Flags().IntVar(&o.settings.Warmup, "warmup", o.settings.Warmup, "iterations of each chain before the first draw, with --draws auto as many at most")
	c.Flags().Var(&o.draws, "draws", "draws to keep of each chain; `NUMBER`, or auto: until the figures are good enough")
	c.Flags().Var(&o.timeLimit, "time", "`DURATION` after which chains stop whose draws are auto, such as 5m, or none")
	c.Flags().IntVar(&o.settings.Thin, "thin", o.settings.Thin, "iterations from one draw to the next")
	c.Flags().Uint64Var(&o.settings.Seed, "seed", o.settings.Seed, "seed of all random choices")
	c.Flags().Float64Var(&o.effort, "effort", 1, "how much looking for the best stands beside the draws; 0 for none")
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
		if o.shard != "" {
			return &inputerr.Error{Message: "--shard is a part of a run that all know", Hint: "sample the changed problem file, the same for all of them"}
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
	if o.shard != "" {
		if o.outputDirectory == "" {
			return &inputerr.Error{Message: "--shard is one of several parts of a run", Hint: "name the run with -o, the same for all of them"}
		}
		return o.runShard(c, o.shard, o.outputDirectory)
	}
	if dir, err = namedOrFreeRunDirectory(dir, p.Name); err != nil {
		return err
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
	p, err := compileProblem(c.Context(), file, d, !o.quiet && !o.progressJSON, compile.Options{
		Text:            changed,
		Workers:         o.workers,
		Effort:          effort,
		Time:            timeLimitFlagValue(c, o.timeLimit),
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
	c.Flags().BoolVar(off, "no-cache", false, "work out how many compositions keep the rules anew, and keep nothing in .kir-cache beside the problem")
}

// kernelNames returns the names that the flag --kernel accepts.
func kernelNames() []string { return append([]string{"auto"}, mcmc.KernelNames()...) }
