package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kir/internal/campaign"
	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report/figure"
	"kir/internal/report/view"
	"kir/internal/serve"
	"kir/internal/terminal"
)

// replayOptions are the flags of kir replay.
type replayOptions struct {
	settings        campaign.ReplaySettings
	table           initOptions // how to read a table
	tableFlags      []string    // names of the flags that say it
	output, figures string
	asJSON, isQuiet bool
}

func newReplayCommand() *cobra.Command {
	o := &replayOptions{}
	c := &cobra.Command{
		Use:   "replay TABLE|PROBLEM [--objective RESULT]",
		Short: "Test kir on your results: how soon it finds the best recipe",
		Long: `Test kir on results that you already have. kir pretends that only some of your recipes,
drawn at random, have been made. Then it chooses batches as kir next does, but only from
your other recipes, and sees their results. The report says after how many trials kir
had your best recipe, and how many trials random choice takes.

TABLE is a table of recipes with results; flags describe it as in kir init. A PROBLEM
needs an objective that is learnt from results. Several objectives count as one score.
kir replay changes no file of a campaign. docs/campaign.md has an example.

-o writes one HTML file; --figures writes the figure as SVG and PNG.`,
		Example: `  kir replay recipes.csv --objective liking
  kir replay problem.yaml --batch 8 -o replay.html
  kir replay problem.yaml --json | jq .trials_to_best.median`,
		Args:              requireOneArg("table of recipes or problem file"),
		ValidArgsFunction: completeTablesAndProblems,
		RunE:              o.run,
	}
	o.addFlags(c)
	return c
}

func (o *replayOptions) addFlags(c *cobra.Command) {
	o.table.addReadingFlags(c)
	c.Flags().VisitAll(func(f *pflag.Flag) { o.tableFlags = append(o.tableFlags, f.Name) })
	c.Flags().IntVar(&o.settings.Start, "start", 0, "`NUMBER` of recipes that a replay begins with (default: a fifth of the recipes, 5 to 20)")
	c.Flags().IntVar(&o.settings.BatchSize, "batch", 0, "`NUMBER` of recipes in a batch (default: 4)")
	c.Flags().IntVar(&o.settings.Trials, "trials", 0, "`NUMBER` of recipes that a replay makes, with those of --start (default: half of all recipes, at most 60 after the start)")
	c.Flags().IntVar(&o.settings.Repeats, "repeat", 0, "`NUMBER` of replays, each with another start (default: 10)")
	c.Flags().Uint64Var(&o.settings.Seed, "seed", 0, "start of the random numbers, a `NUMBER` (default: that of the problem)")
	c.Flags().IntVar(&o.settings.Workers, "workers", 0, "`NUMBER` of replays at the same time (default: all cores); the result stays the same")
	c.Flags().StringVarP(&o.output, "output", "o", "", "HTML `FILE` to write")
	c.Flags().StringVar(&o.figures, "figures", "", "write the figure as SVG and PNG into this `DIR`")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON document")
	c.Flags().BoolVar(&o.isQuiet, "quiet", false, "print no progress")
	must(c.MarkFlagFilename("output", "html"))
	must(c.MarkFlagDirname("figures"))
}

// run replays campaigns and prints how soon they found the best recipe.
func (o *replayOptions) run(c *cobra.Command, args []string) (err error) {
	if err := o.check(c, args[0]); err != nil {
		return err
	}
	d := newSpinner(c.Context(), c.ErrOrStderr(), o.asJSON || o.isQuiet)
	defer d.endWork()
	p, err := o.readProblem(c.Context(), args[0], d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s := o.settings
	if !c.Flags().Changed("seed") {
		s.Seed = p.Sampler.Seed
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	s.Version = currentBuild().Version
	d.beginWork("replaying")
	s.Progress = func(done, all int) { d.beginWork(fmt.Sprintf("replaying, %d of %d done", done, all)) }
	r, err := campaign.Replay(c.Context(), p, s)
	if err != nil {
		return err
	}
	d.endWork()
	return o.print(c, r, args[0])
}

// check returns an error if flags do not fit the file or one another.
func (o *replayOptions) check(c *cobra.Command, path string) error {
	if err := checkPageName(o.output); err != nil {
		return err
	}
	for name, least := range map[string]int{"start": 1, "batch": 1, "trials": 1, "repeat": 1, "workers": 0} {
		if v, err := c.Flags().GetInt(name); err != nil || c.Flags().Changed(name) && v < least {
			return &inputerr.Error{Message: fmt.Sprintf("--%s is %d", name, v), Hint: fmt.Sprintf("it must be %d or more", least)}
		}
	}
	if serve.IsTable(path) {
		return nil
	}
	for _, name := range o.tableFlags {
		if c.Flags().Changed(name) {
			return &inputerr.Error{File: path, Message: "--" + name + " is for a table, and this is a problem file", Hint: "change the problem file, or name its table of recipes"}
		}
	}
	return nil
}

// readProblem reads a problem file. For a table it makes the problem that kir init would write, without its
// constraints, since all recipes were made.
func (o *replayOptions) readProblem(ctx context.Context, path string, d *spinner) (*compile.Problem, error) {
	options := compile.Options{Campaign: true, Notify: d.printMessage, Progress: d.beginWork}
	if !serve.IsTable(path) {
		return compile.Load(ctx, path, options)
	}
	o.table.outputFile = strings.TrimSuffix(path, filepath.Ext(path)) + ".replay.yaml" // only for the paths of tables
	t, _, err := o.table.readDraft(ctx, path)
	if err != nil {
		return nil, err
	}
	if t.Book == nil {
		return nil, &inputerr.Error{File: path, Message: "this is a table of prices or returns, without recipes", Hint: "name a table of recipes with results"}
	}
	if open := t.OpenObjectives(); len(open) > 0 {
		return nil, &inputerr.Error{File: path, Message: "nothing says which result to optimise", Hint: "add " + flagText("objective", open[0]) + "; there are " + inputerr.List(open, 12)}
	}
	if !slices.ContainsFunc(t.Targets(), func(of compile.Target) bool {
		return !of.Attribute && of.Objective.Direction != compile.NoDirection
	}) {
		return nil, &inputerr.Error{File: path, Message: "the table has no result to optimise", Hint: "name a column with results, such as --objective liking, and with --labels if kir takes it for an ingredient"}
	}
	t.NoPairs, t.Bounds = true, make(map[string]bool)
	for _, b := range t.OfferedBounds() {
		t.Bounds[b.Key] = false
	}
	if options.Text, err = t.Write(); err != nil {
		return nil, err
	}
	p, err := compile.Load(ctx, o.table.outputFile, options)
	if err != nil {
		return nil, err
	}
	p.File = path // in messages, as there is no problem file
	return p, nil
}

// print prints a replay as text or JSON, and writes its page and its figure if flags ask for them.
func (o *replayOptions) print(c *cobra.Command, r *campaign.Replayed, path string) error {
	if o.output != "" {
		var b bytes.Buffer
		if err := view.ReplayPage(&b, r); err != nil {
			return err
		}
		if err := savePage(c.Context(), o.output, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintln(c.ErrOrStderr(), terminal.EscapeControls(o.output))
	}
	if o.figures != "" {
		files, err := saveFigures(c.Context(), []*figure.Figure{view.ReplayFigure(r)}, o.figures)
		if err != nil {
			return fmt.Errorf("writing the figure: %w", err)
		}
		for _, path := range files {
			fmt.Fprintln(c.ErrOrStderr(), terminal.EscapeControls(path))
		}
	}
	if o.asJSON {
		return writeJSON(c.OutOrStdout(), r)
	}
	next := []string{"kir next " + terminal.ShellWord(path)}
	if serve.IsTable(path) {
		next = []string{"kir init " + terminal.ShellWord(path) + o.tableFlagsText(c), "kir next problem.yaml"}
	}
	return view.Replay(c.OutOrStdout(), r, next, textStyle(c.OutOrStdout()))
}

// tableFlagsText returns the flags for the table that were given, as kir init takes them.
func (o *replayOptions) tableFlagsText(c *cobra.Command) (text string) {
	for _, name := range o.tableFlags {
		f := c.Flags().Lookup(name)
		if !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			text += " " + flagText(name, v)
		}
	}
	return text
}
