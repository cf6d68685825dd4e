package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/terminal"
)

// maxListedFiles is the greatest number of files that kir trust lists for one external program.
const maxListedFiles = 20

func newTrustCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trust PROBLEM",
		Short: "Allow the external programs that score a problem's recipes to run",
		Long: `Allow the external programs that score a problem's recipes to run whenever kir uses that
problem, and print them. They run with your user permissions. kir trust does not ask, so
first inspect the programs that the problem file names.

The permission ends if any of these changes: the command, its arguments, the directory
of the problem, or a file or directory that the command names. It also ends if a
script's interpreter changes, or a file that the script may load from its own directory
or below. kir does not check what else a program loads, such as installed libraries.

The permission for each program is a file in ~/.config/kir/trusted on Linux (kir/trusted
in the configuration directory of other systems). The file contains the command; delete
the file to withdraw the permission. To allow programs once, use --allow-programs
instead.`,
		Example:           "  kir trust examples/scorer/problem.yaml",
		Args:              requireOneArg("problem file"),
		ValidArgsFunction: completeProblemFiles,
		RunE: func(c *cobra.Command, args []string) error {
			commands, err := compile.ReadCommands(c.Context(), args[0], nil)
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
					if _, err := fmt.Fprintln(out, said+terminal.EscapeControls(line)); err != nil {
						return err
					}
					said = "  "
				}
				files := command.Files()
				files = files[min(1, len(files)):] // behind the program
				end := ":"
				if len(files) == 0 {
					end = "."
				}
				if _, err := fmt.Fprintf(out, "  as long as the program stays as it is, and %s%s\n", inputerr.Count(len(files), "file"), end); err != nil {
					return err
				}
				for k, path := range files {
					if k == maxListedFiles {
						fmt.Fprintf(out, "    and %d more\n", len(files)-k)
						break
					}
					if _, err := fmt.Fprintln(out, "    "+terminal.EscapeControls(strconv.Quote(path))); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}
