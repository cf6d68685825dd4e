package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is an invalid command line.
type usageError struct {
	err     error
	command *cobra.Command
}

// Error replaces Cobra's message where that is not a sentence.
func (e *usageError) Error() string {
	text := e.err.Error()
	if names, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		names = strings.NewReplacer(`", "`, " and --", `"`, "").Replace(strings.TrimSuffix(names, " not set"))
		return e.command.CommandPath() + " needs --" + names
	}
	return text
}

func (e *usageError) Unwrap() error { return e.err }

// exactlyOneArg checks that a command gets exactly one argument, whose name the message has.
func exactlyOneArg(name string) cobra.PositionalArgs {
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

// atMostOneArg checks that a command gets at most one argument.
func atMostOneArg(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s, not %s", c.CommandPath(), name, strings.Join(args, " "))
		}
		return nil
	}
}

// exactlyTwoArgs checks that a command gets exactly two arguments.
func exactlyTwoArgs(first, second string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s needs a %s and a %s", c.CommandPath(), first, second)
		}
		return nil
	}
}

// completeProblemFiles completes problem files.
func completeProblemFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeServedFiles completes tables and problem files.
func completeServedFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "xlsx", "ods", "fods", "csv", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRunDirectories completes run directories.
func completeRunDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeProblemsAndRuns completes problem files and run directories.
func completeProblemsAndRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// must panics on an error that only a bug can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
