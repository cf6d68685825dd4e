package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/run"
	"kir/internal/search"
	"kir/internal/terminal"
)

// taskOptions are the flags of kir tasks.
type taskOptions struct {
	name, file string
	workers    int
	asJSON     bool
}

func newTasksCommand() *cobra.Command {
	o := &taskOptions{}
	c := &cobra.Command{
		Use:   "tasks RUN",
		Short: "Print the work that a run has left, as commands that any machines can run",
		Long: `Print what a run has left to do, one command (task) per line. The tasks of a list can run
in any order and at the same time, on any machines that see RUN. Running a task again
does no harm. Nothing is printed when all is done; then kir merge makes the report.

When the tasks of a list are done, ask again: the next list depends on their results. With
draws: auto, longer chains come until the estimates are precise enough. Then comes the
search for the best recipes. The result is that of one process, to the last digit.

kir sample --tasks prepares such a run. --run does one task. docs/scale.md has loops for GNU
parallel, Slurm, Snakemake, Dask and Ray.`,
		Example: `  kir sample problem.yaml -o shared/long --chains 64 --tasks
  kir tasks shared/long | parallel        # and again, until nothing is printed
  kir tasks shared/long --run chain=0012/draws=100000
  kir tasks shared/long --json | jq -r '.tasks[].name'`,
		Args:              requireOneArg("run"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			if o.name != "" {
				return o.do(c, args[0])
			}
			return o.print(c, args[0])
		},
	}
	c.Flags().StringVar(&o.name, "run", "", "do the task with this `NAME`")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON document")
	c.Flags().IntVar(&o.workers, "workers", 0, "most `NUMBER` of cores that a task uses (default: all); a chain uses one")
	addProblemFlag(c, &o.file)
	return c
}

// prepareTasks starts a run in a directory and leaves its work to kir tasks.
func (o *sampleOptions) prepareTasks(c *cobra.Command, p *compile.Problem, dir string) error {
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	spec, err := newSpec(p, dir)
	if err != nil {
		return err
	}
	if err := run.Prepare(c.Context(), spec, store, run.Options{Workers: o.workers}); err != nil {
		return toInputError(explainFailure(c.Context(), err, p, store))
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "The run is ready: kir tasks %s prints its work.\n", terminal.EscapeControls(terminal.ShellWord(dir)))
	return err
}

// A taskList is what kir tasks --json prints.
type taskList struct {
	Tasks []listedTask `json:"tasks"` // tasks that can be done now, in any order
	Done  bool         `json:"done"`  // whether the run has no work left, and kir merge makes the report
}

// A listedTask is a task of a run with its command.
type listedTask struct {
	run.Task
	Command []string `json:"command"`
}

// print prints the tasks that can be done now.
func (o *taskOptions) print(c *cobra.Command, dir string) error {
	r, err := openRun(c.Context(), dir)
	if err != nil {
		return err
	}
	tasks, err := r.ChainTasks()
	if err == nil && len(tasks) == 0 {
		tasks, err = o.findTasks(c, r, dir)
	}
	if err != nil {
		return toInputError(err)
	}
	list := taskList{Tasks: []listedTask{}, Done: len(tasks) == 0}
	for _, t := range tasks {
		list.Tasks = append(list.Tasks, listedTask{t, o.command(c, dir, t.Name)})
	}
	if o.asJSON {
		return writeJSON(c.OutOrStdout(), list)
	}
	var text strings.Builder
	for _, t := range list.Tasks {
		for k, word := range t.Command {
			if k > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(terminal.ShellWord(word))
		}
		text.WriteByte('\n')
	}
	if list.Done {
		fmt.Fprintf(c.ErrOrStderr(), "All is done: kir merge %s makes the report.\n", terminal.EscapeControls(terminal.ShellWord(dir)))
	}
	_, err = fmt.Fprint(c.OutOrStdout(), text.String())
	return err
}

// command returns the command line of a task.
func (o *taskOptions) command(c *cobra.Command, dir, name string) []string {
	words := []string{"kir", "tasks", dir, "--run", name}
	if o.file != "" {
		words = append(words, "--problem", o.file)
	}
	if allowed, err := c.Flags().GetBool("allow-programs"); err == nil && allowed {
		words = append(words, "--allow-programs")
	}
	if o.workers > 0 {
		words = append(words, fmt.Sprint("--workers=", o.workers))
	}
	return words
}

// findTasks returns the tasks of a run that depend on its problem.
func (o *taskOptions) findTasks(c *cobra.Command, r *run.Run, dir string) (tasks []run.Task, err error) {
	err = o.withProblem(c, r, dir, func(p *compile.Problem, spec *run.Spec, store run.Store) error {
		if tasks, err = run.Tasks(c.Context(), spec, store, run.Options{Workers: o.workers}); err != nil {
			return explainFailure(c.Context(), err, p, store)
		}
		if len(tasks) > 0 && tasks[0].Kind == run.TaskChain {
			return nil
		}
		trade, err := run.TradeOffTasks(c.Context(), spec, store, findTradeOff(c.Context(), p))
		tasks = append(tasks, trade...)
		return err
	})
	return tasks, err
}

// findTradeOff returns a function that searches for the trade-off of a problem by steps.
func findTradeOff(ctx context.Context, p *compile.Problem) func(*search.Steps) error {
	return func(steps *search.Steps) error {
		_, err := p.SearchOwnTradeOff(ctx, steps)
		return err
	}
}

// withProblem reads the problem of a run and calls do.
func (o *taskOptions) withProblem(c *cobra.Command, r *run.Run, dir string, do func(*compile.Problem, *run.Spec, run.Store) error) (err error) {
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	p, err := loadProblemOfRun(c.Context(), r, o.file, r.Manifest.SettingsAsStarted(), o.workers, newSpinner(c.Context(), c.ErrOrStderr(), true))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	spec, err := newSpec(p, dir)
	if err != nil {
		return err
	}
	if err = do(p, spec, store); errors.Is(err, run.ErrTimeLimit) {
		return timeLimitError(dir, err)
	}
	return err
}

// do does the named task.
func (o *taskOptions) do(c *cobra.Command, dir string) error {
	if o.asJSON {
		return &inputerr.Error{Message: "a task prints nothing", Hint: "leave out --json"}
	}
	r, err := openRun(c.Context(), dir)
	if err != nil {
		return err
	}
	return o.withProblem(c, r, dir, func(p *compile.Problem, spec *run.Spec, store run.Store) error {
		err := run.RunTask(c.Context(), spec, store, run.Options{Workers: o.workers}, o.name, findTradeOff(c.Context(), p))
		if none := (*run.TaskError)(nil); errors.As(err, &none) {
			return &inputerr.Error{Message: err.Error(), Err: err}
		}
		return toInputError(explainFailure(c.Context(), err, p, store))
	})
}
