package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/terminal"
	"kir/mcmc"
)

// tradeoffOptions are the flags of kir tradeoff.
type tradeoffOptions struct {
	objectiveNames       []string
	figures, problemFile string
	points, workers      int
	effort               float64
	seed                 uint64
	asJSON               bool
}

func newTradeoffCommand() *cobra.Command {
	o := &tradeoffOptions{}
	c := &cobra.Command{
		Use:   "tradeoff PROBLEM|RUN [--between NAME,NAME]",
		Short: "Find the best trade-offs between two to four objectives",
		Long: `Find the best trade-offs between two to four objectives: recipes that keep the
constraints, and can gain in one objective only by losing in another. The list is spread
evenly over the trade-offs, and shows each objective in its own unit. It marks knees:
beyond a knee, a small gain in one objective costs much of another. One number (the
hypervolume; larger is better) rates the trade-offs as a whole, against random recipes.

The objectives come from the key "trade" of the problem file, unless you give --between.
Objectives that do not count in the score (weight 0) can be among them. With a RUN, the
figures (--figures) also show the random recipes that the run drew.

kir sample does the same for a problem with the key "trade", and keeps the result in
summary.json.`,
		Example: `  kir tradeoff examples/portfolio/frontier.yaml
  kir tradeoff problem.yaml --between cost,viscosity --figures figures
  kir tradeoff runs/lotion-1 --between cost,stable --json | jq '.front[] | select(.knee)'`,
		Args:              requireOneArg("problem file or run"),
		ValidArgsFunction: completeProblemsAndRuns,
		RunE:              o.run,
	}
	o.addFlags(c)
	return c
}

func (o *tradeoffOptions) addFlags(c *cobra.Command) {
	c.Flags().StringSliceVar(&o.objectiveNames, "between", nil, "`NAMES` of two to four objectives, separated by commas (default: \"trade\" in the problem)")
	c.Flags().IntVar(&o.points, "points", defaultPoints, "`NUMBER` of recipes to list")
	c.Flags().Float64Var(&o.effort, "effort", 1, "length of the search, as a `MULTIPLE` of the usual")
	c.Flags().Uint64Var(&o.seed, "seed", 0, "start of the random numbers, a `NUMBER` (default: that of the problem)")
	c.Flags().IntVar(&o.workers, "workers", 0, "`NUMBER` of searches at the same time (default: all cores)")
	c.Flags().StringVar(&o.figures, "figures", "", "write the figures as SVG and PNG into this `DIR`")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON document")
	addProblemFlag(c, &o.problemFile)
	must(c.MarkFlagDirname("figures"))
	must(c.RegisterFlagCompletionFunc("between", completeObjectives))
}

// run searches for the trade-off and prints its recipes.
func (o *tradeoffOptions) run(c *cobra.Command, args []string) (err error) {
	effort, err := effortFlagValue(c, o.effort)
	if err != nil {
		return err
	}
	if o.points < 2 || o.points > maxPoints {
		return &inputerr.Error{Message: fmt.Sprintf("--points is %d", o.points), Hint: fmt.Sprintf("it must be from 2 to %d", maxPoints)}
	}
	d := newSpinner(c.Context(), c.ErrOrStderr(), o.asJSON)
	defer d.endWork()
	p, r, err := readTradeProblem(c.Context(), args[0], o.problemFile, o.workers, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	options := o.tradeOptions(c, p, effort)
	if len(options.ObjectiveNames) == 0 {
		return &inputerr.Error{File: args[0], Message: "nothing says what the trade-off is between", Hint: tradeHint(p)}
	}
	d.beginWork("looking for the trade-off")
	trade, err := p.SearchTradeOff(c.Context(), options)
	if err != nil {
		return err
	}
	draws, warnings, err := drawsBehindFront(c.Context(), p, r)
	if err != nil {
		return fmt.Errorf("reading the draws: %w", err)
	}
	t, err := assemble.Tradeoff(p, trade, o.points, draws)
	if err != nil {
		return err
	}
	t.Warnings = append(t.Warnings, warnings...)
	d.endWork()
	return o.print(c, p, t)
}

// drawsBehindFront returns the draws of a run, for a drawing that shows them behind the recipes of a trade-off.
// It returns no draws without a run. If the run is not complete, it also returns a warning.
func drawsBehindFront(ctx context.Context, p *compile.Problem, r *run.Run) (draws []*mcmc.Composition, warnings []string, err error) {
	if r == nil {
		return nil, nil, nil
	}
	if r.CheckComplete() != nil {
		return nil, []string{"The run is not complete, so the plots leave out its draws."}, nil
	}
	draws, err = assemble.DrawsBehind(ctx, p, r)
	return draws, nil, err
}

// tradeOptions returns the options of the search for a trade-off. Flags override the options in the problem
// file.
func (o *tradeoffOptions) tradeOptions(c *cobra.Command, p *compile.Problem, effort *float64) compile.TradeOptions {
	t := compile.TradeOptions{ObjectiveNames: p.Trade, Effort: p.Search.Effort, Seed: p.Sampler.Seed, Workers: o.workers}
	if c.Flags().Changed("between") {
		t.ObjectiveNames = o.objectiveNames
	}
	if effort != nil {
		t.Effort = *effort
	}
	if t.Effort == 0 {
		t.Effort = 1
	}
	if c.Flags().Changed("seed") {
		t.Seed = o.seed
	}
	return t
}

// print prints a trade-off as text or JSON. If a flag names a directory for drawings, it also writes the
// drawings.
func (o *tradeoffOptions) print(c *cobra.Command, p *compile.Problem, t *report.Tradeoff) error {
	if o.figures != "" {
		files, err := saveFigures(c.Context(), view.TradeFigures(t), o.figures)
		if err != nil {
			return fmt.Errorf("writing the figures: %w", err)
		}
		for _, path := range files {
			fmt.Fprintln(c.ErrOrStderr(), terminal.EscapeControls(path))
		}
	}
	return writeResult(c.Context(), c.OutOrStdout(), o.asJSON, jsonOf(struct {
		Problem report.Problem `json:"problem"`
		*report.Tradeoff
	}{assemble.ProblemOf(p), t}), func(w io.Writer) error { return view.Tradeoff(w, t, p.Total, textStyle(w)) })
}

const defaultPoints, maxPoints = 20, 500

// tradeHint returns a hint on how to name the objectives of a trade-off, which lists the objectives of the
// problem.
func tradeHint(p *compile.Problem) string {
	var names []string
	for _, w := range p.Properties {
		names = append(names, w.Name)
	}
	if len(names) < compile.MinTradeObjectives {
		return "the problem has fewer than two objectives: add them under properties"
	}
	return "add --between, such as --between " + terminal.ShellWord(names[0]) + "," + terminal.ShellWord(names[1]) + ", or trade: to the problem; there are " + inputerr.List(names, 12)
}

// readTradeProblem reads a problem from a problem file or from a run. The returned run is nil if the problem
// comes from a file.
func readTradeProblem(ctx context.Context, path, file string, workers int, d *spinner) (*compile.Problem, *run.Run, error) {
	if !isRun(path) {
		p, err := compile.Load(ctx, path, compile.Options{Notify: d.printMessage, Progress: d.beginWork, Workers: workers, CacheCounts: true})
		return p, nil, err
	}
	r, err := openRun(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	p, err := loadProblemOfRun(ctx, r, file, r.Manifest.SettingsAsStarted(), workers, d)
	return p, r, err
}

// completeObjectives suggests to the shell names of the objectives of a problem, in a list separated by commas.
func completeObjectives(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || isRun(args[0]) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	there, err := compile.PropertyNames(c.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndex(typed, ",")+1]
	var names []string
	for _, name := range there {
		if !slices.Contains(strings.Split(before, ","), name) {
			names = append(names, before+name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
