package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
)

func newMergeCommand() *cobra.Command {
	var o runOptions
	var file string
	c := &cobra.Command{
		Use:   "merge RUN",
		Short: "Summarise a run that several machines shared",
		Long: `Combine the parts of a run that several machines ran (shards): write summary.json and
report.html, and print the shortlist, as kir sample does. kir sample --help describes
shards. If a part lacks draws (random recipes), kir merge refuses; kir status lists such
parts. You can run kir merge again.`,
		Example: `  kir merge shared/long
  kir merge 's3://bucket/long?endpoint=http://127.0.0.1:7070' --problem problem.yaml`,
		Args:              requireOneArg("run"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := summarizeRun(c.Context(), args[0], file, o.workers, !o.noReport, newSpinner(c.Context(), c.ErrOrStderr(), false))
			if err != nil {
				return err
			}
			return printSummary(c.Context(), c.OutOrStdout(), m, args[0], o.asJSON)
		},
	}
	c.Flags().IntVar(&o.workers, "workers", 0, "`NUMBER` of sampling runs (chains) read at the same time (default: all cores)")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print summary.json, and nothing else")
	c.Flags().BoolVar(&o.noReport, "no-report", false, "write no report.html")
	addProblemFlag(c, &file)
	return c
}

func newStatusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status RUN",
		Short: "Print the progress of a run, and of its parts on other machines (shards)",
		Long: `Print how much of a run is done, running or missing: its independent sampling runs
(chains), and the random recipes that they drew (draws). It prints the same for each
part of the run on another machine (shard), with the time since that shard last
reported. A shard reports each time it stores draws: usually every 20 seconds, later if
sampling is slow.`,
		Example:           "  kir status shared/long",
		Args:              requireOneArg("run"),
		ValidArgsFunction: completeRunDirectories,
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
			of.Running = r.IsActive(time.Now())
			if asJSON {
				return errors.Join(writeJSON(c.OutOrStdout(), of), of.damagedDraws)
			}
			return of.writeText(c.OutOrStdout(), args[0])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
