package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/view"
)

func newShowCommand() *cobra.Command {
	var asJSON, details bool
	var best int
	var t tableFlags
	var weighing weighingFlags
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Print the report of a run",
		Long: `Print the report of a finished run: the best recipe that you have, the suggestions (the
shortlist), and how far to trust them.

--details adds the rest: how well the models predict; averages over random recipes
(draws), drawn in proportion to their score; how well the independent sampling runs
(chains) agree; and how to repeat the run.

--best K prints only the first K suggestions.

--recipe K prints a weighing sheet of suggestion K: amounts rounded to the steps of your
scale, sorted by group. The rounded amounts add up exactly, and the constraints still
hold. The sheet is text; --csv writes a table instead, and --html a page to print.
Percentages are by volume or by mass, as in your recipes. --in converts from one to the
other, with the densities of the ingredients.

--csv and --xlsx write the shortlist for a spreadsheet: one column per recipe, one row
per ingredient, by group, with scores and predictions. Percentages are of the total.
Names that start with "=" are written as text, not as formulas.`,
		Example: `  kir show runs/fresh-all-day-cocktails-1
  kir show runs/fresh-all-day-cocktails-1 --details
  kir show runs/fresh-all-day-cocktails-1 --best 20
  kir show runs/fresh-all-day-cocktails-1 --best 3 --json | jq .best[].recipe
  kir show runs/fresh-all-day-cocktails-1 --xlsx -o shortlist.xlsx
  kir show runs/fresh-all-day-cocktails-1 --recipe 3 --batch 750ml --round 0.5
  kir show runs/accord-1 --recipe 1 --batch 100g --round 0.01 --html -o accord.html`,
		Args:              requireOneArg("run directory"),
		ValidArgsFunction: completeRunDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("best") && best < 1 {
				return &inputerr.Error{Message: fmt.Sprintf("--best is %d", best), Hint: "it must be at least 1"}
			}
			m, err := readRunSummary(c, args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("recipe") {
				return weighing.writeSheet(c, args[0], m, &t, asJSON)
			}
			if t.csv || t.xlsx {
				return t.writeShortlist(c, args[0], m, best)
			}
			if details && !asJSON {
				return view.Details(c.OutOrStdout(), m, args[0], textStyle(c.OutOrStdout()))
			}
			if best == 0 {
				return printSummary(c.Context(), c.OutOrStdout(), m, args[0], asJSON)
			}
			return printShortlist(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), m, best, asJSON)
		},
	}
	c.Flags().BoolVar(&details, "details", false, "also print the rest of the report")
	c.Flags().IntVar(&best, "best", 0, "print only the first `K` suggestions")
	c.Flags().BoolVar(&asJSON, "json", false, "print summary.json; with --best, only the first K suggestions")
	t.addTo(c)
	weighing.addTo(c)
	c.MarkFlagsMutuallyExclusive("csv", "xlsx", "json", "html")
	for _, other := range []string{"best", "recipe", "csv", "xlsx"} {
		c.MarkFlagsMutuallyExclusive("details", other)
	}
	return c
}

// printShortlist prints the first entries of the shortlist. The argument best is the greatest number of entries
// to print.
func printShortlist(ctx context.Context, out, messages io.Writer, m *report.Model, best int, asJSON bool) error {
	if len(m.Best) < best {
		fmt.Fprintf(messages, "kir: --best %d: the shortlist has %d\n", best, len(m.Best))
	}
	list := m.Best[:min(best, len(m.Best))]
	return writeResult(ctx, out, asJSON, jsonOf(struct {
		Best []report.Best `json:"best"`
	}{list}), func(w io.Writer) error { return view.Shortlist(w, list, m, textStyle(w)) })
}
