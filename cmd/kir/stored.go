package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"kir/run/bucket"

	"github.com/spf13/cobra"

	"kir"
	"kir/fault"
	"kir/problem"
	"kir/report"
	"kir/report/view"
	"kir/run"
)

// problemFileOf returns where the problem file of a run was when it was started.
func problemFileOf(r *run.Run) (string, error) {
	path := r.Manifest.Problem
	if path == "" {
		return "", &fault.Error{File: r.Dir, Message: "the run does not know where its problem file is", Hint: "name it with --problem"}
	}
	if !filepath.IsAbs(path) && !bucket.Is(r.Dir) {
		path = filepath.Join(r.Dir, path)
	}
	return path, nil
}

// problemOfRun reads the problem that a run was made of, with the settings
// given.
func problemOfRun(ctx context.Context, r *run.Run, path string, settings kir.Settings, workers int) (*problem.Problem, error) {
	if path == "" {
		var err error
		if path, err = problemFileOf(r); err != nil {
			return nil, err
		}
	}
	p, err := problem.Load(ctx, path, problem.Options{
		Workers:  workers,
		Effort:   r.Manifest.Effort,
		Override: func(s *kir.Settings) { *s = settings },
	})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the problem of the run: %w; say where it is with --problem", err)
		}
		return nil, fmt.Errorf("the problem of the run: %w", err)
	}
	return p, nil
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
		return summarize(ctx, dir, "", 0, slices.Contains(m.Files, view.PageName))
	}
	if slices.Contains(m.Files, view.PageName) {
		if fresh, err := view.PageIsFresh(ctx, store, m); err != nil {
			return nil, err
		} else if !fresh {
			tell("report.html was not made of the draws that are there, and is made again")
			if err := view.SavePage(ctx, store, m); err != nil {
				return nil, fmt.Errorf("writing the report: %w", err)
			}
		}
	}
	return m, nil
}
