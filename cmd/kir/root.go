package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/internal/terminal"
)

// execute runs kir with the command line arguments args and returns the error of the command.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRootCommand()
	out := &outputWriter{w: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err != nil && !hasStarted(command) {
		// Cobra itself reported the error, so it is a usage error.
		err = &usageError{err, command}
	}
	if err == nil && out.firstError != nil {
		err = fmt.Errorf("writing the output: %w", out.firstError)
	}
	return err
}

// An outputWriter writes to stdout and keeps the first error of a write, because the package cobra ignores
// errors when it prints help. Several goroutines may write at the same time.
type outputWriter struct {
	w          io.Writer
	mu         sync.Mutex
	firstError error
}

func (o *outputWriter) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(p)
	if o.firstError == nil {
		o.firstError = err
	}
	return n, err
}

// Fd returns the file descriptor of stdout. Callers use it to find out whether stdout is a terminal.
func (o *outputWriter) Fd() uintptr {
	if f, ok := o.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// reportError prints an error on stderr and returns the exit status of the program.
func reportError(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if os.Getenv("KIR_ERRORS") == "json" {
		status := exitStatusOf(err)
		writeErrorsJSON(stderr, err, status)
		return status
	}
	several := (*inputerr.Errors)(nil)
	usage := (*usageError)(nil)
	if isInterrupted(err) {
		fmt.Fprintln(stderr, "kir: interrupted")
	} else if consent := (*compile.ConsentError)(nil); errors.As(err, &consent) {
		// Print the whole command, one word a line, since a shortened or joined command can hide
		// something.
		said := "kir: "
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(stderr, said+terminal.EscapeControls(strings.TrimSuffix(line, "\n")))
			said = ""
		}
	} else if errors.As(err, &several) {
		for line := range strings.Lines(several.Error()) {
			fmt.Fprintln(stderr, "kir: "+terminal.EscapeControls(strings.TrimSuffix(line, "\n")))
		}
	} else {
		fmt.Fprintln(stderr, "kir: "+terminal.EscapeControls(err.Error()))
	}
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", usage.command.CommandPath())
	}
	return exitStatusOf(err)
}

// isInterrupted reports whether the error comes from a signal that ended a command, and no run can be resumed.
func isInterrupted(err error) bool {
	resumable := (*run.InterruptedError)(nil)
	return errors.Is(err, context.Canceled) && !errors.As(err, &resumable)
}

// exitStatusOf returns the exit status of the program for an error.
func exitStatusOf(err error) int {
	var (
		usage     *usageError
		bad       *inputerr.Error
		resumable *run.InterruptedError
	)
	switch {
	case isInterrupted(err):
		return 130
	case errors.As(err, &usage), errors.As(err, &bad), errors.Is(err, run.ErrDamaged):
		return 2
	case errors.As(err, &resumable):
		return 130
	}
	return 1
}

// An errorJSON is one fault in the JSON output of errors; an error can report several faults.
type errorJSON struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Cell    string `json:"cell,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// An errorsJSON is the JSON output of an error.
type errorsJSON struct {
	Errors []errorJSON `json:"errors"`
	Status int         `json:"status"` // exit status of the program
}

// newErrorsJSON returns the JSON output of an error.
func newErrorsJSON(err error, status int) (line errorsJSON) {
	line.Status = status
	var (
		several *inputerr.Errors
		bad     *inputerr.Error
	)
	switch {
	case errors.As(err, &several):
		for _, e := range several.All {
			line.Errors = append(line.Errors, errorJSON{e.File, e.Line, e.Column, e.Cell, e.Message, e.Hint})
		}
	case errors.As(err, &bad) && err.Error() == bad.Error():
		line.Errors = []errorJSON{{bad.File, bad.Line, bad.Column, bad.Cell, bad.Message, bad.Hint}}
	default:
		line.Errors = []errorJSON{{Message: err.Error()}}
	}
	return line
}

// writeErrorsJSON prints an error as one line of JSON.
func writeErrorsJSON(stderr io.Writer, err error, status int) {
	text, failed := json.Marshal(newErrorsJSON(err, status))
	if failed != nil {
		text = []byte(`{"errors":[],"status":` + strconv.Itoa(status) + `}`) // texts and numbers are JSON always
	}
	fmt.Fprintf(stderr, "%s\n", text)
}

const rootHelp = `kir finds new recipes, fragrances, formulations or portfolios. Each divides a whole
among a few of many possible ingredients. Every recipe obeys your constraints. kir draws
recipes at random in proportion to their score: the better a recipe fits your
objectives, the more often it comes up. The longer the run, the closer it comes to this
proportion; this is proven.

Start with a table of recipes: kir init recipes.csv writes a problem file such as

  name: Fresh all-day cocktails
  recipes: recipes.csv       # columns recipe, ingredient, amount, unit, results
  total: 1000                # amounts in steps of 1/1000 of a recipe
  sparsity: recipes          # numbers of ingredients per recipe as in yours
  properties:                # objectives: here, a taste learnt from the recipes
    taste: {learn: {label: taste, want: Fresh}}

and run kir sample problem.yaml.`

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "kir",
		Short:         "Find new recipes under constraints",
		Long:          rootHelp,
		Version:       currentBuild().Version,
		Args:          rejectUnknownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("kir {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newInitCommand(),
		newSampleCommand(),
		newResumeCommand(),
		newTasksCommand(),
		newMergeCommand(),
		newStatusCommand(),
		newTrustCommand(),
		newNextCommand(),
		newRecordCommand(),
		newCampaignCommand(),
		newReplayCommand(),
		newShowCommand(),
		newCompareCommand(),
		newScoreCommand(),
		newTradeoffCommand(),
		newReportCommand(),
		newServeCommand(),
		newMCPCommand(),
		newDrawsCommand(),
		newCheckCommand(),
		newCountCommand(),
		newSchemaCommand(),
		newTrainCommand(),
		newPaperCommand(),
		newVersionCommand(),
	)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	groupCommands(root)
	root.SetUsageFunc(writeUsage)
	for _, c := range root.Commands() {
		if slices.Contains(scoringCommands, c.Name()) {
			c.Flags().Bool(allowProgramsFlag, false, "let the external programs of the problem score recipes, with your user permissions")
		}
		switch c.Name() {
		case "completion":
			describeCompletion(c)
			c.Args, c.RunE = rejectUnknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help":
			c.Short = "Print the help of a command"
			c.Long = "Print the help of a command, such as kir help sample."
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || found == root {
					return rejectUnknownCommand(root, args)
				}
				return nil
			}
		}
		markStarted(c)
		for _, shell := range c.Commands() {
			markStarted(shell)
		}
	}
	root.SetFlagErrorFunc(suggestFlag)
	return root
}

// rejectUnknownCommand returns an error for an unknown command. The error suggests the most similar command.
func rejectUnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, known := range c.Commands() {
		names = append(names, known.Name())
	}
	return suggestionError("there is no command "+inputerr.Quote(args[0]), args[0], names)
}

// suggestFlag adds a suggestion to the error for an unknown flag: the most similar flag.
func suggestFlag(c *cobra.Command, err error) error {
	text, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return suggestionError(err.Error(), "--"+text, names)
}

func suggestionError(message, text string, names []string) error {
	if near := inputerr.DidYouMean(text, names); near != "" {
		message += ": " + near
	}
	return errors.New(message)
}

// scoringCommands are the names of the commands that score compositions. Only they may run the external
// programs of a problem.
var scoringCommands = []string{"sample", "resume", "tasks", "merge", "check", "show", "report", "score", "tradeoff", "compare", "serve", "next", "record", "campaign", "replay"}

const allowProgramsFlag = "allow-programs"

// startedAnnotation is the key of an annotation of a command; see [markStarted].
const startedAnnotation = "started"

// markStarted wraps a command so that it gets an annotation when its own code starts. From the annotation
// [hasStarted] knows whether an error comes from the command line or from the command.
func markStarted(c *cobra.Command) {
	do := c.RunE
	if do == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		c.Annotations = map[string]string{startedAnnotation: ""}
		if allow, err := c.Flags().GetBool(allowProgramsFlag); err == nil && allow {
			c.SetContext(compile.AllowPrograms(c.Context()))
		}
		return runUntilDone(c, args, do)
	}
}

// runUntilDone runs the function of a command. If the command stores no draws and the context ends,
// runUntilDone soon returns even if the function still waits for a pipe.
func runUntilDone(c *cobra.Command, args []string, runFunc func(*cobra.Command, []string) error) error {
	if slices.Contains([]string{"sample", "resume", "tasks", "serve", "mcp"}, c.Name()) {
		return runFunc(c, args)
	}
	ended := make(chan error, 1)
	go func() { ended <- runFunc(c, args) }()
	select {
	case err := <-ended:
		return err
	case <-c.Context().Done():
	}
	const patience = 2 * time.Second // to leave no half file behind
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		return c.Context().Err()
	}
}

func hasStarted(c *cobra.Command) bool {
	_, ok := c.Annotations[startedAnnotation]
	return ok
}
