package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A usageError reports an invalid command line.
type usageError struct {
	cause   error
	command *cobra.Command
}

// Error returns the message of the cause. It rewrites messages of the package cobra that are not sentences.
func (e *usageError) Error() string {
	text := e.cause.Error()
	if names, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		names = strings.NewReplacer(`", "`, " and --", `"`, "").Replace(strings.TrimSuffix(names, " not set"))
		return e.command.CommandPath() + " needs --" + names
	}
	return text
}

func (e *usageError) Unwrap() error { return e.cause }

// requireOneArg returns a check that a command gets exactly one argument. The error calls the argument by the
// given name.
func requireOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs a %s", c.CommandPath(), name)
		case len(args) > 1:
			return fmt.Errorf("%s takes one %s, not %s", c.CommandPath(), name, strings.Join(args, " "))
		}
		return nil
	}
}

// allowOneArg returns a check that a command gets at most one argument. The error calls the argument by the
// given name.
func allowOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s, not %s", c.CommandPath(), name, strings.Join(args, " "))
		}
		return nil
	}
}

// requireTwoArgs returns a check that a command gets exactly two arguments. The error calls them by the given
// names.
func requireTwoArgs(firstName, secondName string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s needs a %s and a %s", c.CommandPath(), firstName, secondName)
		}
		return nil
	}
}

// completeProblemFiles makes the shell suggest problem files when the user presses Tab.
func completeProblemFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeTablesAndProblems makes the shell suggest tables and problem files when the user presses Tab.
func completeTablesAndProblems(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "xlsx", "ods", "fods", "csv", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRunDirectories makes the shell suggest directories of runs when the user presses Tab.
func completeRunDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeProblemsAndRuns makes the shell suggest problem files and directories of runs when the user presses
// Tab.
func completeProblemsAndRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// must panics if err is not nil. It is for errors that occur only if the program has a bug.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
