package main

import (
	"errors"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
)

func newCheckCommand() *cobra.Command {
	var asJSON, noCache bool
	c := &cobra.Command{
		Use:   "check PROBLEM",
		Short: "Check a problem file, and how well its models predict",
		Long: `Check a problem file and the files that it names. kir check counts the possible recipes,
and rates how well the models predict results. It also shows how many ingredients the
recipes would have, recommends a sampling algorithm (kernel), and suggests changes to
the problem. It tests each change in short runs first. Errors come with file, line and
column.`,
		Example:           "  kir check examples/cocktails/problem.yaml",
		Args:              requireOneArg("problem file"),
		ValidArgsFunction: completeProblemFiles,
		RunE: func(c *cobra.Command, args []string) (err error) {
			d := newSpinner(c.Context(), c.ErrOrStderr(), false)
			defer d.endWork()
			p, err := compile.Load(c.Context(), args[0], compile.Options{CacheCounts: !noCache, Notify: d.printMessage, Progress: d.beginWork})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			advice, err := chooseKernel(c.Context(), p, d)
			if err != nil {
				return err
			}
			d.beginWork("looking at the models")
			check, err := assemble.Check(p)
			if err != nil {
				return p.Explain(err)
			}
			if advice == nil { // the problem names a kernel, and another is no more than a suggestion
				if advice, err = run.Recommend(c.Context(), p.Target, p.Sampler, p.RunsPrograms()); c.Context().Err() != nil {
					return c.Context().Err()
				}
			}
			if advice != nil {
				check.Kernel = *advice
			}
			d.beginWork("trying changes that may help")
			offers, err := findOffers(c.Context(), p)
			if err != nil {
				return p.Explain(err)
			}
			d.endWork()
			if asJSON {
				return writeJSON(c.OutOrStdout(), struct {
					*report.Check
					Offers []offer `json:"offers"`
				}{check, offers})
			}
			if err := view.Check(c.OutOrStdout(), check); err != nil {
				return err
			}
			return writeOffers(c.OutOrStdout(), offers)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	addNoCacheFlag(c, &noCache)
	return c
}
