package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/inputerr"
	"kir/internal/problem"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
	"kir/internal/run"
	"kir/internal/terminal"
)

func newTradeoffCommand() *cobra.Command {
	var between []string
	var figures, file string
	var points, workers int
	var effort float64
	var seed uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "tradeoff PROBLEM|RUN [--between NAME,NAME]",
		Short: "Find the recipes none of which beats another",
		Long: `Look for the trade-off between two to four objectives: the recipes within the
constraints none of which another beats in all of them, spread evenly, each with its
values in their own units, and the knees, beyond which a little more of one objective
costs much of another. The hypervolume says how much of the space of objectives the
front covers, beside that of random recipes.

The objectives are those of trade: in the problem file, unless --between names others.
A property of weight 0 can be one. With a RUN the draws stand behind the front.

kir sample does the same for a problem with trade:, and keeps it in summary.json.`,
		Example: `  kir tradeoff examples/portfolio/frontier.yaml
  kir tradeoff problem.yaml --between cost,viscosity --figures figures
  kir tradeoff runs/lotion-1 --between cost,stable --json | jq '.front[] | select(.knee)'`,
		Args:              exactlyOneArg("problem file or run"),
		ValidArgsFunction: completeProblemsAndRuns,
		RunE: func(c *cobra.Command, args []string) (err error) {
			looked, err := effortOf(c, effort)
			if err != nil {
				return err
			}
			if points < 2 || points > mostPoints {
				return &inputerr.Error{Message: fmt.Sprintf("--points is %d", points), Hint: fmt.Sprintf("it must be from 2 to %d", mostPoints)}
			}
			d := newSpinner(c.Context(), c.ErrOrStderr(), asJSON)
			defer d.end()
			p, r, err := readTradeProblem(c.Context(), args[0], file, workers, d)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			o := assemble.TradeOptions{Between: p.Trade, Points: points, Effort: p.Search.Effort, Seed: p.Sampler.Seed, Workers: workers, Draws: r}
			if c.Flags().Changed("between") {
				o.Between = between
			}
			if looked != nil {
				o.Effort = *looked
			}
			if o.Effort == 0 {
				o.Effort = 1
			}
			if c.Flags().Changed("seed") {
				o.Seed = seed
			}
			if len(o.Between) == 0 {
				return &inputerr.Error{File: args[0], Message: "nothing says what the trade-off is between", Hint: tradeHint(p)}
			}
			d.begin("looking for the trade-off")
			t, err := assemble.Tradeoff(c.Context(), p, o)
			if err != nil {
				return err
			}
			d.end()
			if figures != "" {
				files, err := saveFigures(c.Context(), view.TradeFigures(t), figures)
				if err != nil {
					return fmt.Errorf("writing the figures: %w", err)
				}
				for _, path := range files {
					fmt.Fprintln(c.ErrOrStderr(), terminal.Plain(path))
				}
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), struct {
					Problem report.Problem `json:"problem"`
					*report.Tradeoff
				}{assemble.ProblemOf(p), t})
			}
			return view.Tradeoff(c.OutOrStdout(), t, p.Total, textStyle(c.OutOrStdout()))
		},
	}
	c.Flags().StringSliceVar(&between, "between", nil, "two to four `NAMES` of objectives, separated by commas (default: trade of the problem)")
	c.Flags().IntVar(&points, "points", defaultPoints, "recipes to list")
	c.Flags().Float64Var(&effort, "effort", 1, "how long to look, times the usual")
	c.Flags().Uint64Var(&seed, "seed", 0, "seed of all random choices (default: that of the problem)")
	c.Flags().IntVar(&workers, "workers", 0, "searches at once; it changes nothing but the time (default: all cores)")
	c.Flags().StringVar(&figures, "figures", "", "write the figures as SVG and PNG into this `DIR`")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	problemFlag(c, &file)
	must(c.MarkFlagDirname("figures"))
	must(c.RegisterFlagCompletionFunc("between", completeObjectives))
	return c
}

const defaultPoints, mostPoints = 20, 500

// tradeHint lists the objectives of a problem.
func tradeHint(p *problem.Problem) string {
	var names []string
	for _, w := range p.Properties {
		names = append(names, w.Name)
	}
	if len(names) < problem.LeastTrade {
		return "the problem has fewer than two objectives: add them under properties"
	}
	return "add --between, such as --between " + shellWord(names[0]) + "," + shellWord(names[1]) + ", or trade: to the problem; there are " + inputerr.List(names, 12)
}

// readTradeProblem reads a problem file, or the problem of a run.
func readTradeProblem(ctx context.Context, path, file string, workers int, d *spinner) (*problem.Problem, *run.Run, error) {
	if !isRun(path) {
		p, err := problem.Load(ctx, path, problem.Options{Notify: d.tell, Progress: d.begin, Workers: workers, Cache: true})
		return p, nil, err
	}
	r, err := openRun(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	p, err := problemOfRun(ctx, r, file, r.Manifest.Asked(), workers, d)
	return p, r, err
}

// completeObjectives completes the names of a problem's objectives, separated by commas.
func completeObjectives(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || isRun(args[0]) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	there, err := problem.PropertyNames(c.Context(), args[0])
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
