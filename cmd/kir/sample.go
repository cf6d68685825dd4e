package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"kir"
	"kir/fault"
	"kir/problem"
	"kir/report"
	"kir/run"
	"kir/run/bucket"
)

func newSampleCommand() *cobra.Command {
	var out, shard string
	var o runOptions
	s := kir.DefaultSettings()
	c := &cobra.Command{
		Use:   "sample PROBLEM [-o RUN] [--shard K/S]",
		Short: "Draw compositions as a problem asks",
		Long: `Run the chains that a problem file asks for, keep every draw, and say what was
found: the best new compositions, how far the draws can be trusted, and where
the files lie. Flags override the problem file.

The run's directory gets the draws (Parquet), the problem as it was resolved,
summary.json, and report.html to look at. A run that was interrupted goes on
with kir resume.

With --shard 3/16 only the third of sixteen parts of the chains is run, by as many
machines as there are. All name the same RUN, a directory that they share or a
bucket: s3://bucket/prefix?endpoint=https://host for those that are not Amazon's.
The same command goes on where it was interrupted; kir status says how far all are,
and kir merge makes the summary when they are done. Each draw is what it would be
in one run.`,
		Example: `  kir sample examples/cocktails/problem.yaml
  kir sample problem.yaml -o runs/long --draws 1000000 --seed 7
  kir sample problem.yaml --json | jq .best[0].recipe
  kir sample problem.yaml -o shared/long --chains 64 --shard 3/16`,
		Args:              one("problem file"),
		ValidArgsFunction: problemFiles,
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		changed := c.Flags().Changed
		p, err := problem.Load(c.Context(), args[0], problem.Options{
			Workers: o.workers,
			Tell:    teller(c.ErrOrStderr(), o.quiet),
			Override: func(given *kir.Settings) {
				for _, f := range []struct {
					name string
					set  func()
				}{
					{"kernel", func() { given.Kernel = s.Kernel }},
					{"chains", func() { given.Chains = s.Chains }},
					{"warmup", func() { given.Warmup = s.Warmup }},
					{"draws", func() { given.Draws = s.Draws }},
					{"thin", func() { given.Thin = s.Thin }},
					{"seed", func() { given.Seed = s.Seed }},
				} {
					if changed(f.name) {
						f.set()
					}
				}
			},
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		o.problem = p
		if shard != "" {
			if out == "" {
				return &fault.Error{Message: "--shard is one of several parts of a run", Hint: "name the run with -o, the same for all of them"}
			}
			return o.shard(c, shard, out)
		}
		dir, made, err := runDirectory(out, p.Name)
		if err != nil {
			return err
		}
		err = o.do(c, p, dir, run.Start)
		if err != nil && made != "" {
			// Nothing stays behind of a run that never began.
			os.Remove(made)
		}
		return err
	}
	c.Flags().StringVarP(&out, "output", "o", "", "directory or s3://bucket/prefix of the run, which must not exist (default: a new one in runs/)")
	c.Flags().StringVar(&shard, "shard", "", "run only the K-th of S parts of the chains, `K/S`; kir merge joins them")
	c.Flags().StringVar(&s.Kernel, "kernel", s.Kernel, "kernel: "+strings.Join(kir.KernelNames(), ", "))
	c.Flags().IntVar(&s.Chains, "chains", s.Chains, "chains")
	c.Flags().IntVar(&s.Warmup, "warmup", s.Warmup, "iterations of each chain before the first draw")
	c.Flags().IntVar(&s.Draws, "draws", s.Draws, "draws to keep of each chain")
	c.Flags().IntVar(&s.Thin, "thin", s.Thin, "iterations from one draw to the next")
	c.Flags().Uint64Var(&s.Seed, "seed", s.Seed, "seed of all random choices")
	o.flags(c)
	must(c.RegisterFlagCompletionFunc("kernel", cobra.FixedCompletions(kir.KernelNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.MarkFlagDirname("output"))
	return c
}

// teller returns what prints messages of a run that goes on.
func teller(w io.Writer, quiet bool) func(string) {
	return func(message string) {
		if !quiet {
			fmt.Fprintln(w, "kir: "+report.Plain(message))
		}
	}
}

// runOptions are the flags of the commands that run chains.
type runOptions struct {
	problem       *problem.Problem
	workers       int
	asJSON, quiet bool
	progressJSON  bool
	noReport      bool
}

func (o *runOptions) flags(c *cobra.Command) {
	c.Flags().IntVar(&o.workers, "workers", 0, "chains run at once; it changes nothing but the time (default: all cores)")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print summary.json, and nothing else, to stdout")
	c.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	c.Flags().BoolVar(&o.noReport, "no-report", false, "write no report.html")
	c.Flags().BoolVar(&o.progressJSON, "json-progress", false, "print progress as JSON lines to stderr")
}

// manyIngredients is from how many on memory is looked after.
const manyIngredients = 100_000

// prepare returns the options of a run, and what ends the showing of progress.
func (o *runOptions) prepare(c *cobra.Command, p *problem.Problem) (options run.Options, end func(), err error) {
	if o.workers < 0 {
		return options, nil, &fault.Error{Message: fmt.Sprintf("--workers is %d", o.workers), Hint: "it must be 0, for all cores, or more"}
	}
	if len(p.Ingredients) >= manyIngredients {
		// What a chain keeps of each ingredient holds no pointers, so looking for
		// garbage more often costs next to nothing.
		debug.SetGCPercent(5)
	}
	progress := newProgress(c.ErrOrStderr(), o, p)
	return run.Options{Workers: o.workers, Progress: progress.show}, progress.end, nil
}

// do runs a problem's chains in a directory, writes what is said of the run and
// prints it.
func (o *runOptions) do(c *cobra.Command, p *problem.Problem, dir string, chains func(context.Context, *run.Spec, run.Store, run.Options) (*run.Result, error)) error {
	options, end, err := o.prepare(c, p)
	if err != nil {
		return err
	}
	spec, err := specOf(p, dir)
	if err != nil {
		return err
	}
	store, err := storeAt(dir)
	if err != nil {
		return err
	}
	result, err := chains(c.Context(), spec, store, options)
	end()
	if err != nil {
		return inputError(failed(c.Context(), err, p, store))
	}
	m, err := conclude(c.Context(), p, store, result, !o.noReport)
	if err != nil {
		return err
	}
	return printModel(c.OutOrStdout(), m, dir, o.asJSON)
}

// conclude writes the summary of a finished run and, if it is wanted, the page.
func conclude(ctx context.Context, p *problem.Problem, store run.Store, r *run.Result, page bool) (*report.Model, error) {
	m, err := report.New(ctx, p, store, r, version())
	if err != nil {
		if ctx.Err() != nil {
			way := fmt.Sprintf("kir report %s says what was found", run.Quoted(store.Location()))
			return nil, &run.InterruptedError{Dir: store.Location(), Done: 1, Way: way, Err: ctx.Err()}
		}
		return nil, err
	}
	if page {
		m.Files = append([]string{report.PageName}, m.Files...)
	}
	if err := m.Save(ctx, store); err != nil {
		return nil, fmt.Errorf("writing the summary: %w", err)
	}
	if page {
		if err := m.SavePage(ctx, store); err != nil {
			return nil, fmt.Errorf("writing the report: %w", err)
		}
	}
	return m, nil
}

// inputError turns what the user can mend by other arguments into an error of
// input.
func inputError(err error) error {
	var (
		exists     *run.ExistsError
		busy       *run.BusyError
		changed    *run.ChangedError
		noRun      *run.NotRunError
		unfinished *run.UnfinishedError
		bounds     *run.BoundsError
	)
	if errors.As(err, &exists) || errors.As(err, &busy) || errors.As(err, &changed) || errors.As(err, &noRun) || errors.As(err, &unfinished) || errors.As(err, &bounds) {
		return &fault.Error{Message: err.Error(), Err: err}
	}
	return err
}

func printModel(w io.Writer, m *report.Model, dir string, asJSON bool) error {
	if asJSON {
		data, err := m.JSON()
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	return m.WriteText(w, dir, textStyle(w))
}

// specOf says what package run needs to know of a problem.
func specOf(p *problem.Problem, dir string) (*run.Spec, error) {
	spec := &run.Spec{
		Name:        p.Name,
		Problem:     p.File,
		Ingredients: p.Ingredients,
		Target:      p.Target,
		Settings:    p.Sampler,
		Resolved:    p.Resolved,
		Version:     version(),
	}
	for _, in := range p.Inputs {
		spec.Inputs = append(spec.Inputs, run.Input(in))
	}
	if p.Book != nil {
		spec.Known = func(ingredients []int) bool {
			_, known := p.Book.Known(ingredients)
			return known
		}
	}
	file, err := filepath.Abs(p.File)
	if err != nil {
		return nil, err
	}
	if bucket.Is(dir) {
		spec.Problem = file
		return spec, nil
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Relative, so that a project can be moved as a whole.
	if spec.Problem, err = filepath.Rel(absolute, file); err != nil {
		spec.Problem = file
	}
	return spec, nil
}

// runDirectory returns the directory for a run: the one that was named, or the
// first that is free of runs/NAME-1, runs/NAME-2, … It returns the parent too
// if it had to be made.
func runDirectory(named, problemName string) (dir, made string, err error) {
	if bucket.Is(named) {
		return named, "", nil
	}
	if named != "" {
		parent := filepath.Dir(named)
		if _, err := os.Stat(parent); errors.Is(err, os.ErrNotExist) {
			if err := os.MkdirAll(parent, 0o777); err != nil {
				return "", "", fmt.Errorf("making a directory for the run: %w", err)
			}
			made = parent
		}
		return named, made, nil
	}
	const parent = "runs"
	if err := os.Mkdir(parent, 0o777); err == nil {
		made = parent
	} else if !errors.Is(err, os.ErrExist) {
		return "", "", fmt.Errorf("making a directory for the run: %w; name another place with -o", err)
	}
	base := filepath.Join(parent, slug(problemName))
	for k := 1; ; k++ {
		dir = fmt.Sprintf("%s-%d", base, k)
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			return dir, made, nil
		} else if err != nil {
			return "", made, err
		}
	}
}

// slug turns a name into one for a file: lower case, words joined by hyphens.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	s := strings.Join(words, "-")
	const longest = 60
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	if s == "" {
		return "run"
	}
	return s
}
