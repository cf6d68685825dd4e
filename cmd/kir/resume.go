package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"kir/fault"
	"kir/problem"
	"kir/run"
)

func newResumeCommand() *cobra.Command {
	var o runOptions
	var draws int
	c := &cobra.Command{
		Use:   "resume RUN [--draws D]",
		Short: "Go on with a run that was interrupted, or make it longer",
		Long: `Go on with a run from where it was interrupted, in whatever way: by a signal, a
full disk, a power cut. The draws are those of an uninterrupted run.

With --draws a run, finished or not, is made longer; the result is that of one
long run. The problem and its files must be what they were.`,
		Example: `  kir resume runs/fresh-all-day-cocktails-1
  kir resume runs/fresh-all-day-cocktails-1 --draws 1000000`,
		Args:              one("run directory"),
		ValidArgsFunction: runDirectories,
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		dir := args[0]
		r, err := run.Open(dir)
		if err != nil {
			return inputError(err)
		}
		settings := kir.Settings(r.Manifest.Settings)
		if c.Flags().Changed("draws") {
			if draws < settings.Draws {
				return &fault.Error{Message: fmt.Sprintf("--draws is %d and the run has %d draws a chain", draws, settings.Draws), Hint: "a run can only be made longer"}
			}
			settings.Draws = draws
		}
		p, err := problemOfRun(c.Context(), r, settings, o.workers)
		if err != nil {
			return err
		}
		err = o.do(c, p, dir, func(ctx context.Context, spec *run.Spec, options run.Options) (*run.Result, error) {
			return run.Resume(ctx, spec, dir, options)
		})
		if errors.Is(err, run.ErrComplete) {
			return &fault.Error{File: dir, Message: "the run is complete: there is nothing to resume", Hint: "to make it longer, say how many draws a chain it is to have with --draws", Err: err}
		}
		return err
	}
	c.Flags().IntVar(&draws, "draws", 0, "draws a chain that the run is to have in the end")
	o.flags(c)
	return c
}

// problemOfRun reads the problem that a run was made of, with the settings
// given.
func problemOfRun(ctx context.Context, r *run.Run, settings kir.Settings, workers int) (*problem.Problem, error) {
	path := r.Manifest.Problem
	if path == "" {
		return nil, &fault.Error{File: r.Dir, Message: "the run does not know where its problem file is"}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	p, err := problem.Load(ctx, path, problem.Options{
		Workers:  workers,
		Override: func(s *kir.Settings) { *s = settings },
	})
	if err != nil {
		return nil, fmt.Errorf("the problem of the run: %w", err)
	}
	return p, nil
}
