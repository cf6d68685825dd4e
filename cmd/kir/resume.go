package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/mcmc"
)

func newResumeCommand() *cobra.Command {
	var o runOptions
	var draws int
	var shard, file string
	c := &cobra.Command{
		Use:   "resume RUN [--draws NUMBER]",
		Short: "Continue an interrupted run, or make a run longer",
		Long: `Continue a run that was interrupted by Ctrl-C, a full disk or a power cut. The result is
the same as without the interruption.

--draws makes a run longer, whether it has finished or not; the result is that of one
long run. The problem and its files must not have changed.`,
		Example: `  kir resume runs/fresh-all-day-cocktails-1
  kir resume runs/fresh-all-day-cocktails-1 --draws 1000000`,
		Args:              requireOneArg("run directory"),
		ValidArgsFunction: completeRunDirectories,
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		dir := args[0]
		r, err := openRun(c.Context(), dir)
		if err != nil {
			return err
		}
		settings := r.Manifest.SettingsAsStarted()
		if c.Flags().Changed("draws") {
			settings = r.Manifest.Settings
			if settings.Draws == mcmc.AutoDraws {
				return &inputerr.Error{File: dir, Message: "the run goes on until its figures are good enough, and has no number of draws yet", Hint: "resume it without --draws; when it has stopped, --draws makes it longer"}
			}
			if draws < settings.Draws {
				return &inputerr.Error{Message: fmt.Sprintf("--draws is %d and the run has %s a chain", draws, inputerr.Count(settings.Draws, "draw")), Hint: "a run can only be made longer"}
			}
			settings.Draws = draws
		}
		p, err := loadProblemOfRun(c.Context(), r, file, settings, o.workers, newSpinner(c.Context(), c.ErrOrStderr(), o.quiet))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		if shard != "" {
			o.problem = p
			return o.runShard(c, shard, dir)
		}
		err = o.runChains(c, p, dir, run.Resume)
		if errors.Is(err, run.ErrComplete) {
			if made, err := o.summarizeIfNeeded(c, dir, file); made || err != nil {
				return err
			}
			return &inputerr.Error{File: dir, Message: "the run is complete: there is nothing to resume", Hint: "to make it longer, say how many draws a chain it is to have with --draws", Err: err}
		}
		return err
	}
	c.Flags().IntVar(&draws, "draws", 0, "total `NUMBER` of draws (random recipes) per sampling run (chain), with those already made")
	c.Flags().StringVar(&shard, "shard", "", "continue only part K of S of the chains, `K/S`; auto: as the cluster numbers its jobs (Slurm, Kubernetes, AWS Batch)")
	addProblemFlag(c, &file)
	o.addRunFlags(c)
	return c
}

// summarizeIfNeeded makes and prints the summary of a run that has all draws but no summary. This happens if
// the process that made the last draws was ended too early. made reports whether a summary was made.
func (o *runOptions) summarizeIfNeeded(c *cobra.Command, dir, file string) (made bool, err error) {
	store, err := openStore(dir)
	if err != nil {
		return false, err
	}
	tell := newLogger(c.ErrOrStderr(), false)
	m, why, err := readStoredSummary(c.Context(), store, tell)
	if err != nil {
		return false, err
	}
	if why == "" {
		made, err = refreshPage(c.Context(), store, m, tell)
	} else {
		tell(why)
		made = true
		m, err = summarizeRun(c.Context(), dir, file, o.workers, !o.noReport, newSpinner(c.Context(), c.ErrOrStderr(), o.quiet))
	}
	if err != nil || !made {
		return false, err
	}
	return true, printSummary(c.OutOrStdout(), m, dir, o.asJSON)
}
