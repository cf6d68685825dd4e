package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A usageError is an invalid command line.
type usageError struct {
	cause   error
	command *cobra.Command
}

// Error returns the message of the cause. If Cobra's message is not a sentence, Error replaces it.
func (e *usageError) Error() string {
	text := e.cause.Error()
	if names, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		names = strings.NewReplacer(`", "`, " and --", `"`, "").Replace(strings.TrimSuffix(names, " not set"))
		return e.command.CommandPath() + " needs --" + names
	}
	return text
}

func (e *usageError) Unwrap() error { return e.cause }

// requireOneArg checks that a command gets exactly one argument. Its message calls the argument by the given name.
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

// allowOneArg checks that a command gets at most one argument. Its message calls the argument by the given name.
func allowOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s, not %s", c.CommandPath(), name, strings.Join(args, " "))
		}
		return nil
	}
}

// requireTwoArgs checks that a command gets exactly two arguments. Its message calls the arguments first and
// second.
func requireTwoArgs(first, second string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s needs a %s and a %s", c.CommandPath(), first, second)
		}
		return nil
	}
}

// completeProblemFiles completes the names of problem files in a shell.
func completeProblemFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeServedFiles completes the names of tables and problem files in a shell.
func completeServedFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "xlsx", "ods", "fods", "csv", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRunDirectories completes the names of run directories in a shell.
func completeRunDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeProblemsAndRuns completes the names of problem files and run directories in a shell.
func completeProblemsAndRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// must panics if err is not nil. It is for errors that only a bug can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
