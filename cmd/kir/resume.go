package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"kir"
	"kir/fault"
	"kir/problem"
	"kir/run"
	"kir/run/bucket"
)

func newResumeCommand() *cobra.Command {
	var o runOptions
	var draws int
	var shard, file string
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
		r, err := openRun(c.Context(), dir)
		if err != nil {
			return err
		}
		settings := r.Manifest.Settings
		if c.Flags().Changed("draws") {
			if draws < settings.Draws {
				return &fault.Error{Message: fmt.Sprintf("--draws is %d and the run has %d draws a chain", draws, settings.Draws), Hint: "a run can only be made longer"}
			}
			settings.Draws = draws
		}
		p, err := problemOfRun(c.Context(), r, file, settings, o.workers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		if shard != "" {
			o.problem = p
			return o.shard(c, shard, dir)
		}
		err = o.do(c, p, dir, run.Resume)
		if errors.Is(err, run.ErrComplete) {
			return &fault.Error{File: dir, Message: "the run is complete: there is nothing to resume", Hint: "to make it longer, say how many draws a chain it is to have with --draws", Err: err}
		}
		return err
	}
	c.Flags().IntVar(&draws, "draws", 0, "draws a chain that the run is to have in the end")
	c.Flags().StringVar(&shard, "shard", "", "go on with only the K-th of S parts of the chains, `K/S`")
	problemFlag(c, &file)
	o.flags(c)
	return c
}

// problemOfRun reads the problem that a run was made of, with the settings
// given.
func problemOfRun(ctx context.Context, r *run.Run, path string, settings kir.Settings, workers int) (*problem.Problem, error) {
	if path == "" {
		path = r.Manifest.Problem
		if path == "" {
			return nil, &fault.Error{File: r.Dir, Message: "the run does not know where its problem file is", Hint: "name it with --problem"}
		}
		if !filepath.IsAbs(path) && !bucket.Is(r.Dir) {
			path = filepath.Join(r.Dir, path)
		}
	}
	p, err := problem.Load(ctx, path, problem.Options{
		Workers:  workers,
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
