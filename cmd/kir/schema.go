package main

import (
	"os"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [PROBLEM]",
		Short: "Print a description of problem files, for checks in a text editor",
		Long: `Print a description of problem files (JSON Schema, draft 2020-12), with which a text
editor completes their keys and marks mistakes. A problem file names the description in
its first line:

  ` + schema.Modeline(schema.FileName) + `

docs/problem.md describes the same keys for people.

With a PROBLEM, print that file as JSON, for programs that cannot read the notation of
problem files (YAML). kir reads the printed JSON like any problem file. This command
checks only the notation, not the problem.`,
		Example: `  kir schema > ` + schema.FileName + `
  kir schema problem.yaml | jq .properties`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return requireOneArg("problem file")(c, args)
		},
		ValidArgsFunction: completeProblemFiles,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				data, err := os.ReadFile(args[0])
				if err != nil {
					return &inputerr.Error{Message: err.Error(), Err: err}
				}
				node, err := yaml.Parse(args[0], data)
				if err != nil {
					return err
				}
				return writeJSON(c.OutOrStdout(), node)
			}
			text, err := compile.Schema().JSON()
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
}
