package main

import (
	"github.com/spf13/cobra"

	"kir/internal/report"
	"kir/internal/report/view"
)

func newCompareCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs of kir sample",
		Long: `Compare run A with run B: changes of the problem, recipes that entered or left the
shortlist, and numbers that changed. The numbers come from random recipes (draws), drawn
in proportion to their score. They are the mean score, the share of draws with each
number of ingredients, and how often and how much the draws use each ingredient. kir
reports a number as changed only if chance cannot explain it. For two runs of the same
problem, at most one kir compare in twenty reports any changed number.`,
		Example: `  kir compare runs/fresh-all-day-cocktails-1 runs/fresh-all-day-cocktails-2
  kir compare runs/accord-1 runs/accord-2 --json | jq '.figures[] | select(.sure)'`,
		Args:              requireTwoArgs("run directory", "second one"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			a, err := readRunSummary(c, args[0])
			if err != nil {
				return err
			}
			b, err := readRunSummary(c, args[1])
			if err != nil {
				return err
			}
			d := report.Compare(args[0], a, args[1], b)
			if asJSON {
				return writeJSON(c.OutOrStdout(), d)
			}
			return view.Difference(c.OutOrStdout(), d, textStyle(c.OutOrStdout()))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document with all numbers")
	return c
}
