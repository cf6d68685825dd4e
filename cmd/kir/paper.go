package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/spf13/cobra"

	"kir/examples/cocktails"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/paper"
)

func newPaperCommand() *cobra.Command {
	dir := "paper"
	o := paper.Options{Seed: paper.DefaultSeed}
	var asJSON, quiet bool
	c := &cobra.Command{
		Use:   "paper [-o DIR]",
		Short: "Repeat the experiments of the paper behind kir",
		Long: `Repeat the experiments of the paper behind kir, by Obara, Morimura and Yanagisawa
(2019), at their full length. kir compares its values with those of the paper and with
exact values. It writes paper.html, paper.json and each figure, as SVG and PNG, into
DIR.`,
		Example: "  kir paper -o paper-run",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := paper.CheckNewDir(dir); errors.Is(err, fs.ErrExist) {
				return &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(dir)), Hint: "name another directory with -o"}
			} else if err != nil {
				return err
			}
			if o.Workers < 0 {
				return &inputerr.Error{Message: fmt.Sprintf("--workers is %d", o.Workers), Hint: "it must be 0, for all cores, or more"}
			}
			book, err := dataset.Read(strings.NewReader(cocktails.Recipes), "the cocktail book", dataset.Options{})
			if err != nil {
				return err
			}
			o.Book = book
			end := func() {}
			if w := c.ErrOrStderr(); isTerminal(w) && !quiet {
				bar := newBarWriter(w)
				tracker := &progress.Tracker{Message: "the paper", Total: 1}
				bar.AppendTracker(tracker)
				o.Progress = func(done, total int64, what string) {
					tracker.UpdateMessage(what)
					tracker.UpdateTotal(total)
					tracker.SetValue(done)
				}
				end = startProgressBars(bar)
			}
			report, err := paper.Run(c.Context(), o)
			end()
			if err != nil {
				return err
			}
			if err := report.Save(dir); err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				return report.WriteJSON(out)
			}
			if err := report.WriteText(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "\nAll tables and figures: %s\n", filepath.Join(dir, "paper.html"))
			return err
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", dir, "new `DIR` to write to")
	c.Flags().Uint64Var(&o.Seed, "seed", o.Seed, "start of the random numbers; the same `NUMBER` gives the same result")
	c.Flags().IntVar(&o.Workers, "workers", 0, "`NUMBER` of sampling runs (chains) at the same time (default: all cores)")
	c.Flags().IntVar(&o.Divide, "divide", 1, "divide the length of every sampling run by this `NUMBER`, for a quick test")
	c.Flags().BoolVar(&asJSON, "json", false, "print paper.json, and nothing else")
	c.Flags().BoolVar(&quiet, "quiet", false, "print no progress")
	must(c.MarkFlagDirname("output"))
	return c
}
