package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a command line that is wrong.
type usageError struct {
	err     error
	command *cobra.Command
}

// Error says it in kir's words where Cobra's are none of a sentence.
func (e *usageError) Error() string {
	text := e.err.Error()
	if names, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		names = strings.NewReplacer(`", "`, " and --", `"`, "").Replace(strings.TrimSuffix(names, " not set"))
		return e.command.CommandPath() + " needs --" + names
	}
	return text
}

func (e *usageError) Unwrap() error { return e.err }

// one is the check that a command gets exactly one argument, named for the
// message.
func one(name string) cobra.PositionalArgs {
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

// atMostOne is the check that a command gets one argument or none.
func atMostOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one %s, not %s", c.CommandPath(), name, strings.Join(args, " "))
		}
		return nil
	}
}

// two is the check that a command gets exactly two arguments.
func two(first, second string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s needs a %s and a %s", c.CommandPath(), first, second)
		}
		return nil
	}
}

// problemFiles completes problem files.
func problemFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// servedFiles completes tables and problem files.
func servedFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "xlsx", "ods", "fods", "csv", "tsv", "txt", "json", "jsonld"}, cobra.ShellCompDirectiveFilterFileExt
}

// runDirectories completes run directories.
func runDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// problemsAndRuns completes problem files and run directories.
func problemsAndRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// must panics on an error that only a mistake in this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
