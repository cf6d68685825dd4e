package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(c.OutOrStdout(), currentBuild())
			}
			_, err := fmt.Fprintln(c.OutOrStdout(), "kir "+currentBuild().Version)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the version, and how kir was built, as JSON")
	return c
}
