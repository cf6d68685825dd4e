package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
)

func newScoreCommand() *cobra.Command {
	var asJSON, asCSV bool
	var labels []string
	var how layoutFlags
	c := &cobra.Command{
		Use:   "score PROBLEM TABLE",
		Short: "Score recipes of a table, and list the constraints they break",
		Long: `Score the recipes of a table by a problem's objectives, and print which of its
constraints each recipe breaks and by how much. kir also scores recipes that break a
constraint. If a model learned from a recipe, a model that has not seen the recipe
scores it.

Use any table that kir init reads. All ingredients of the table must be in the problem.`,
		Example: `  kir score problem.yaml tonight.xlsx
  kir score problem.yaml recipes.csv --csv > scores.csv
  kir score problem.yaml recipes.csv --json | jq '.recipes[] | select(.broken == [])'`,
		Args: requireTwoArgs("problem file", "table of recipes"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
			}
			return []string{"csv", "xlsx", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			layout, err := how.buildLayout()
			if err != nil {
				return err
			}
			for _, name := range labels {
				layout = layout.Merge(dataset.Layout{Columns: map[string]dataset.Role{dataset.NormalizeName(name): dataset.LabelColumn}})
			}
			d := newSpinner(c.Context(), c.ErrOrStderr(), false)
			defer d.endWork()
			p, err := compile.Load(c.Context(), args[0], compile.Options{Notify: d.printMessage, Progress: d.beginWork})
			if err != nil {
				return err
			}
			d.endWork()
			defer func() { err = errors.Join(err, p.Close()) }()
			book, err := readWithoutVaryingColumns(&layout, func() (*dataset.Book, error) { return p.ReadTable(c.Context(), args[1], layout) })
			if err != nil {
				return err
			}
			if err := printNotes(c.ErrOrStderr(), book.Notes, book.GuessedLayout); err != nil {
				return err
			}
			card, err := assemble.Scorecard(p, book)
			if err != nil {
				return err
			}
			if asCSV {
				return sheet.WriteCSV(c.OutOrStdout(), view.ScoreSheet(card))
			}
			return writeResult(c.Context(), c.OutOrStdout(), asJSON, jsonOf(card), func(w io.Writer) error {
				return view.Scorecard(w, card, textStyle(w))
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.Flags().BoolVar(&asCSV, "csv", false, "print CSV, one row per recipe")
	c.Flags().StringSliceVar(&labels, "labels", nil, "`COLUMNS` of results or remarks, not ingredients, separated by commas, such as liking,remarks")
	how.addTo(c)
	c.MarkFlagsMutuallyExclusive("json", "csv")
	return c
}
