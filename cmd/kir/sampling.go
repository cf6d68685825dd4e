package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"kir/internal/run/bucket"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/search"
	"kir/internal/terminal"
)

// runOptions are the flags that all commands have that run chains.
type runOptions struct {
	problem       *compile.Problem
	workers       int
	asJSON, quiet bool
	progressJSON  bool
	noReport      bool
}

func (o *runOptions) addRunFlags(c *cobra.Command) {
	c.Flags().IntVar(&o.workers, "workers", 0, "`NUMBER` of chains run at the same time (default: all cores); the draws stay the same")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print summary.json, and nothing else")
	c.Flags().BoolVar(&o.quiet, "quiet", false, "print no progress")
	c.Flags().BoolVar(&o.noReport, "no-report", false, "write no report.html")
	c.Flags().BoolVar(&o.progressJSON, "json-progress", false, "print progress for other programs (JSON lines, to stderr)")
}

// runShard runs one of several parts of the chains, a shard, and prints the progress. The argument shardText
// tells which part, and location where the run is stored.
func (o *runOptions) runShard(c *cobra.Command, shardText, location string) error {
	if o.asJSON {
		return &inputerr.Error{Message: "a shard has no summary to print", Hint: "leave --json to kir merge"}
	}
	store, err := openStore(location)
	if err != nil {
		return err
	}
	stored := 0
	if shardText == "auto" { // it takes reading the states of all chains
		if stored, err = run.StoredShardCount(c.Context(), store); err != nil {
			return toInputError(err)
		}
	}
	shard, err := run.ParseShard(shardText, stored)
	if err != nil {
		return &inputerr.Error{Message: err.Error(), Err: err}
	}
	complete := false
	options, end, err := o.prepareRun(c, o.problem)
	if err != nil {
		return err
	}
	options.Shard = shard
	spec, err := newSpec(o.problem, location)
	if err != nil {
		return err
	}
	complete, err = run.RunShard(c.Context(), spec, store, options)
	end()
	var interrupted *run.InterruptedError
	if errors.As(err, &interrupted) {
		interrupted.HowToContinue = "go on with the same command"
	}
	if errors.Is(err, run.ErrTimeLimit) {
		return timeLimitError(location, err)
	}
	if err != nil {
		return toInputError(explainFailure(c.Context(), err, o.problem, store))
	}
	next := "kir status %s shows the progress of the other parts"
	if complete {
		next = "all parts are done, and kir merge %s makes the report"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "Part of the run (shard) %s is done; "+next+".\n", shard, terminal.EscapeControls(terminal.ShellWord(location)))
	return err
}

// timeLimitError returns the error of a run with a time limit, which processes cannot share.
func timeLimitError(location string, err error) error {
	return &inputerr.Error{File: location, Message: err.Error(), Hint: "end it with kir resume, or start another run with --tasks or --shard, which have no time limit", Err: err}
}

// addProblemFlag adds the flag --problem, by which the user tells where the problem file of a run is on this
// machine.
func addProblemFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "problem", "", "problem `FILE` (default: where it was when the run started)")
	must(c.MarkFlagFilename("problem", "yaml", "yml"))
}

// prepareRun returns the options with which to run the chains. It also returns a function that ends the display
// of progress.
func (o *runOptions) prepareRun(c *cobra.Command, p *compile.Problem) (options run.Options, end func(), err error) {
	if o.workers < 0 {
		return options, nil, &inputerr.Error{Message: fmt.Sprintf("--workers is %d", o.workers), Hint: "it must be 0, for all cores, or more"}
	}
	if observe := observerOf(c.Context()); observe != nil {
		show := func(r run.Progress) { observe(logLineText(r, p), doneShare(r)) }
		return run.Options{Workers: o.workers, Progress: show}, func() {}, nil
	}
	progress := newProgressView(c.ErrOrStderr(), o, p)
	return run.Options{Workers: o.workers, Progress: progress.show}, progress.end, nil
}

// runChains runs chains of a problem and stores the run in a directory. The function runFunc runs the chains.
// After the run, runChains writes and prints the summary.
func (o *runOptions) runChains(c *cobra.Command, p *compile.Problem, dir string, runFunc func(context.Context, *run.Spec, run.Store, run.Options) (*run.Result, error)) error {
	options, end, err := o.prepareRun(c, p)
	if err != nil {
		return err
	}
	spec, err := newSpec(p, dir)
	if err != nil {
		return err
	}
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	result, err := runFunc(c.Context(), spec, store, options)
	end()
	if err != nil {
		return toInputError(explainFailure(c.Context(), err, p, store))
	}
	d := newSpinner(c.Context(), c.ErrOrStderr(), o.quiet || o.progressJSON)
	defer d.endWork()
	if len(p.Trade) > 0 {
		d.beginWork("looking for the trade-off")
	}
	m, err := writeReport(c.Context(), p, store, result, nil, !o.noReport)
	if err != nil {
		return err
	}
	d.endWork()
	return printSummary(c.Context(), c.OutOrStdout(), m, dir, o.asJSON)
}

// writeReport writes the summary of a finished run and, if page is true, the HTML page of the run. If processes have
// shared the search for the trade-off, steps holds their results; otherwise it is nil.
func writeReport(ctx context.Context, p *compile.Problem, store run.Store, r *run.Result, steps *search.Steps, page bool) (*report.Model, error) {
	trade, err := p.SearchOwnTradeOff(ctx, steps)
	var m *report.Model
	if err == nil {
		m, err = assemble.Model(ctx, p, store, r, trade, currentBuild().Version)
	}
	if err != nil {
		if ctx.Err() != nil {
			way := fmt.Sprintf("kir report %s makes the report", terminal.ShellWord(store.Location()))
			return nil, &run.InterruptedError{Dir: store.Location(), DoneShare: 1, HowToContinue: way, Err: ctx.Err()}
		}
		return nil, err
	}
	if page {
		m.Files = append([]string{view.PageName}, m.Files...)
	}
	if err := m.Save(ctx, store); err != nil {
		return nil, fmt.Errorf("writing the summary: %w", err)
	}
	if page {
		if err := view.SavePage(ctx, store, m); err != nil {
			return nil, fmt.Errorf("writing the report: %w", err)
		}
	}
	return m, nil
}

// newSpec returns the specification of a new run of the problem, which will be stored in a directory.
func newSpec(p *compile.Problem, dir string) (*run.Spec, error) {
	spec, err := assemble.Spec(p, currentBuild().Version)
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(p.File)
	if err != nil {
		return nil, err
	}
	spec.AbsoluteProblemPath = file
	if bucket.IsBucket(dir) {
		spec.ProblemPath = file
		return spec, nil
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// A relative path, so that a project can be moved as a whole.
	if spec.ProblemPath, err = filepath.Rel(absolute, file); err != nil {
		spec.ProblemPath = file
	}
	return spec, nil
}

// defaultRunsDirectory is the directory in which runs are stored by default, each in a subdirectory.
const defaultRunsDirectory = "runs"

// namedOrFreeRunDirectory returns the directory for a new run: the directory that the user named, or otherwise the
// first of runs/NAME-1, runs/NAME-2, … that does not exist.
func namedOrFreeRunDirectory(named, problemName string) (string, error) {
	if named != "" {
		return named, nil
	}
	return freeRunDirectory(problemName)
}

// freeRunDirectory returns the first of runs/NAME-1, runs/NAME-2, … that does not exist.
func freeRunDirectory(problemName string) (string, error) {
	base := filepath.Join(defaultRunsDirectory, fileNameOf(problemName))
	for k := 1; ; k++ {
		dir := fmt.Sprintf("%s-%d", base, k)
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			return dir, nil
		} else if err != nil {
			return "", err
		}
	}
}

// fileNameOf converts the name of a problem to a file name, in lower case and with hyphens between words.
func fileNameOf(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	s := strings.Join(words, "-")
	const longest = 60
	if len(s) > longest {
		s = strings.TrimRight(strings.ToValidUTF8(s[:longest], ""), "-")
	}
	if s == "" {
		return "run"
	}
	return s
}
