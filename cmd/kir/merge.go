package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kir/fault"
	"kir/report"
	"kir/run"
	"kir/run/bucket"
)

func newMergeCommand() *cobra.Command {
	var o runOptions
	var file string
	c := &cobra.Command{
		Use:   "merge RUN",
		Short: "Say what a run found whose shards are done",
		Long: `Read the draws of all shards of a run, write summary.json and report.html, and
say what was found, as kir sample does at its end. It can be run again. A run of
which draws are missing is refused; kir status says which.`,
		Example: `  kir merge shared/long
  kir merge 's3://bucket/long?endpoint=http://127.0.0.1:7070' --problem problem.yaml`,
		Args:              one("run"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := summarize(c.Context(), args[0], file, o.workers, !o.noReport)
			if err != nil {
				return err
			}
			return printModel(c.OutOrStdout(), m, args[0], o.asJSON)
		},
	}
	c.Flags().IntVar(&o.workers, "workers", 0, "chains read at once; it changes nothing but the time (default: all cores)")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print summary.json, and nothing else, to stdout")
	c.Flags().BoolVar(&o.noReport, "no-report", false, "write no report.html")
	problemFlag(c, &file)
	return c
}

// problemFlag lets the user say where the problem file of a run is on this
// machine.
func problemFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "problem", "", "the problem file (default: where it was when the run was started)")
	must(c.MarkFlagFilename("problem", "yaml", "yml"))
}

// shard runs a shard and says how far the run is.
func (o *runOptions) shard(c *cobra.Command, text, location string) error {
	if o.asJSON {
		return &fault.Error{Message: "a shard has no summary to print", Hint: "leave --json to kir merge"}
	}
	shard, err := run.ParseShard(text)
	if err != nil {
		return &fault.Error{Message: err.Error(), Err: err}
	}
	store, err := storeAt(location)
	if err != nil {
		return err
	}
	complete := false
	options, end, err := o.prepare(c, o.problem)
	if err != nil {
		return err
	}
	options.Shard = shard
	spec, err := specOf(o.problem, location)
	if err != nil {
		return err
	}
	complete, err = run.RunShard(c.Context(), spec, store, options)
	end()
	var interrupted *run.InterruptedError
	if errors.As(err, &interrupted) {
		interrupted.Way = "go on with the same command"
	}
	if err != nil {
		return inputError(failed(c.Context(), err, o.problem, store))
	}
	next := "kir status %s says how far the others are"
	if complete {
		next = "all shards are done, and kir merge %s says what was found"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "Shard %s is done; "+next+".\n", shard, report.Plain(run.Quoted(location)))
	return err
}

// summarize makes the summary of a complete run, and the page if it is wanted.
func summarize(ctx context.Context, dir, file string, workers int, page bool) (m *report.Model, err error) {
	store, err := storeAt(dir)
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	if err != nil {
		return nil, inputError(err)
	}
	if err := r.Complete(); err != nil {
		return nil, inputError(err)
	}
	p, err := problemOfRun(ctx, r, file, r.Manifest.Settings, workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	spec, err := specOf(p, dir)
	if err != nil {
		return nil, err
	}
	result, err := run.Merge(ctx, spec, store, run.Options{Workers: workers})
	if err != nil {
		return nil, inputError(failed(ctx, err, p, store))
	}
	return conclude(ctx, p, store, result, page)
}

// readModel reads the summary of a run. If it was not made of the draws that are
// there, it is made again, and that is said.
func readModel(c *cobra.Command, dir string) (*report.Model, error) {
	ctx := c.Context()
	tell := teller(c.ErrOrStderr(), false)
	store, err := storeAt(dir)
	if err != nil {
		return nil, err
	}
	m, err := report.Read(ctx, store)
	if errors.Is(err, report.ErrNoSummary) {
		tell("the summary is made of the draws, as there is none")
		return summarize(ctx, dir, "", 0, true)
	}
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	if none := (*run.NotRunError)(nil); errors.As(err, &none) {
		tell("there is no run beside this summary, and nothing that says whether it is of its draws")
		return m, nil
	}
	if err != nil {
		return nil, inputError(err)
	}
	if err := r.Complete(); err != nil {
		return nil, inputError(err)
	}
	parts, err := r.Parts(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(parts, m.Parts) {
		tell("summary.json was made of other draws than those that are there, and is made again")
		return summarize(ctx, dir, "", 0, slices.Contains(m.Files, report.PageName))
	}
	if slices.Contains(m.Files, report.PageName) {
		if fresh, err := m.PageIsFresh(ctx, store); err != nil {
			return nil, err
		} else if !fresh {
			tell("report.html was not made of the draws that are there, and is made again")
			if err := m.SavePage(ctx, store); err != nil {
				return nil, fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	return m, nil
}

// storeAt returns the store of a run at a location that the user named: a bucket
// or a directory.
func storeAt(location string) (run.Store, error) {
	if !bucket.Is(location) {
		return run.Directory(location), nil
	}
	store, err := bucket.Open(location)
	if err != nil {
		return nil, &fault.Error{Message: err.Error(), Err: err}
	}
	return store, nil
}

// openRun opens the run at a location.
func openRun(ctx context.Context, location string) (*run.Run, error) {
	store, err := storeAt(location)
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, store)
	return r, inputError(err)
}

func newStatusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status RUN",
		Short: "Say how far a run and its shards are",
		Long: `Say how many chains and draws of a run are done, going or missing, and the same of
each shard, with the time since it was heard of last. A shard is heard of when it
stores draws: at most every 30 seconds, or at the end of a segment that takes
longer.`,
		Example:           "  kir status shared/long",
		Args:              one("run"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := openRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			s, err := r.Status()
			if err != nil {
				return err
			}
			of := newRunStatus(r.Manifest, s, time.Now())
			if asJSON {
				return writeJSON(c.OutOrStdout(), of)
			}
			return of.writeText(c.OutOrStdout(), args[0])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
