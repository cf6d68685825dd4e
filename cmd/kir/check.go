package main

import (
	"errors"

	"github.com/spf13/cobra"

	"kir/problem"
	"kir/report/build"
	"kir/report/view"
)

func newCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check PROBLEM",
		Short: "Check a problem and say what it asks, without sampling",
		Long: `Read a problem file and all that it names, and say what it asks: how many
compositions there are, the law of the number of ingredients, how good each
forest is, and which kernel suits. Bad input is told with file, line and column.`,
		Example:           "  kir check examples/cocktails/problem.yaml",
		Args:              one("problem file"),
		ValidArgsFunction: problemFiles,
		RunE: func(c *cobra.Command, args []string) (err error) {
			p, err := problem.Load(c.Context(), args[0], problem.Options{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			check, err := build.Check(p)
			if err != nil {
				return p.Explain(err)
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), check)
			}
			return view.Check(c.OutOrStdout(), check)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
