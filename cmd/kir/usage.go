package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commandGroups lists the headings under which kir --help lists the commands, and the commands under
// each of them.
var commandGroups = []struct {
	title    string
	commands []string
}{
	{"Begin:", []string{"init", "check", "serve", "mcp"}},
	{"Find recipes:", []string{"sample", "show", "report", "tradeoff", "score", "compare"}},
	{"Make and measure:", []string{"next", "record", "campaign", "replay"}},
	{"Runs of kir sample:", []string{"resume", "tasks", "merge", "status", "draws"}},
	{"Models and checks:", []string{"train", "count", "paper"}},
	{"More:", []string{"trust", "schema", "version", "completion", "help"}},
}

// groupCommands puts the commands of root into the groups of [commandGroups], and lists them in the
// order of the groups.
func groupCommands(root *cobra.Command) {
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range root.Commands() {
			for _, name := range g.commands {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
	}
}

// A plainFlag is the value of a flag that needs no argument. Its type is not "bool", so that the
// usage of a command does not write "[=true|false]" behind its name.
type plainFlag struct{ pflag.Value }

// Type returns the name of the type of the flag.
func (plainFlag) Type() string { return "boolfunc" }

// writeUsage writes the usage of a command as cobra does, with flags that need no argument as
// [plainFlag].
func writeUsage(c *cobra.Command) error {
	flags := c.Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			f.Value = plainFlag{f.Value}
		}
	})
	defer flags.VisitAll(func(f *pflag.Flag) {
		if plain, ok := f.Value.(plainFlag); ok {
			f.Value = plain.Value
		}
	})
	return new(cobra.Command).UsageFunc()(c)
}

// describeCompletion replaces the descriptions that cobra gives to the command completion and to its
// sub-commands, one for each shell, by ones that say what they are for.
func describeCompletion(completion *cobra.Command) {
	completion.Short = "Let the Tab key complete kir commands in your terminal"
	completion.Long = `Print a script with which the Tab key completes kir commands in your terminal. Choose the
program that reads your commands (SHELL): kir completion SHELL --help describes how to
install its script.`
	for _, shell := range completion.Commands() {
		shell.Short = "Print the script for " + shell.Name()
		_, howTo, _ := strings.Cut(shell.Long, "\n\n")
		shell.Long = "Print a script with which the Tab key completes kir commands in " + shell.Name() + ".\n\n" + howTo
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "complete without describing each choice"
		}
	}
}
