package main

import (
	"github.com/spf13/cobra"

	"kir/report"
)

func newShowCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "show RUN",
		Short:             "Say what a run found",
		Long:              "Print the report of a finished run: whether it can be trusted, the best new\ncompositions, and every figure with its error.",
		Example:           "  kir show runs/fresh-all-day-cocktails-1",
		Args:              one("run directory"),
		ValidArgsFunction: runDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			m, err := report.Read(args[0])
			if err != nil {
				return err
			}
			return printModel(c.OutOrStdout(), m, args[0], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print summary.json")
	return c
}
