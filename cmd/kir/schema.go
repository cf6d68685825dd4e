package main

import (
	"github.com/spf13/cobra"

	"kir/internal/problem/schema"
)

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of problem files",
		Long: `Print the JSON Schema (draft 2020-12) of problem files, with which an editor
completes their keys and marks mistakes. A problem file names it in its first line:

  ` + schema.Modeline(schema.FileName) + `

docs/problem.md is the same for people to read.`,
		Example: `  kir schema > ` + schema.FileName,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := schema.JSON()
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
}
