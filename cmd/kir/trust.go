package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"kir/internal/problem"
	"kir/internal/terminal"
)

func newTrustCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trust PROBLEM",
		Short: "Let the programs that a problem names run",
		Long: `Print the programs that a problem names, and let them run whenever that problem is
sampled, checked, resumed or merged. They have your rights, so look at them first.

It holds as long as the command with all its arguments, the contents of the program and
of the files among its arguments, and the problem's directory stay as they are; what the
program loads in turn is not checked. It is kept in kir/trusted in the directory of your
configuration, as a file that can be deleted. To let programs run once, use --allow-programs instead.`,
		Example:           "  kir trust examples/scorer/problem.yaml",
		Args:              one("problem file"),
		ValidArgsFunction: problemFiles,
		RunE: func(c *cobra.Command, args []string) error {
			commands, err := problem.Programs(c.Context(), args[0], nil)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if len(commands) == 0 {
				_, err := fmt.Fprintln(out, "The problem names no programs: there is nothing to trust.")
				return err
			}
			for _, command := range commands {
				if err := command.Trust(); err != nil {
					return fmt.Errorf("remembering what is trusted: %w", err)
				}
				said := "Trusted, "
				for _, line := range command.Lines() {
					if _, err := fmt.Fprintln(out, said+terminal.Plain(line)); err != nil {
						return err
					}
					said = "  "
				}
			}
			return nil
		},
	}
}
