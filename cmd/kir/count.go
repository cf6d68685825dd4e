package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/spf13/cobra"

	"kir/internal/constraint/count"
	"kir/internal/inputerr"
	"kir/internal/number"
	"kir/internal/terminal"
)

func newCountCommand() *cobra.Command {
	var ingredients, total int
	var asJSON bool
	c := &cobra.Command{
		Use:   "count --ingredients N --total M",
		Short: "Count the possible recipes by their number of ingredients",
		Long: `Count the ways to divide M units among N ingredients, by the number n of ingredients
used. The count is exact: C(N, n)·C(M−1, n−1), where C(a, b) is the number of ways to
choose b of a things (a binomial coefficient).`,
		Example: "  kir count --ingredients 50 --total 5",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("kir count takes numbers alone; kir check " + terminal.ShellWord(args[0]) + " counts what a problem leaves")
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			for _, f := range []struct {
				name  string
				value int
			}{{"ingredients", ingredients}, {"total", total}} {
				if f.value < 1 || f.value > math.MaxInt32 {
					return &inputerr.Error{Message: fmt.Sprintf("--%s is %d", f.name, f.value), Hint: fmt.Sprintf("it must be from 1 to %d", math.MaxInt32)}
				}
			}
			if min(ingredients, total) > maxCountedSizes {
				return &inputerr.Error{Message: fmt.Sprintf("%d numbers of ingredients are too many to count one by one", min(ingredients, total)), Hint: fmt.Sprintf("at most %d are", maxCountedSizes)}
			}
			table, err := count.NewUnconstrainedTable(ingredients, total)
			if err != nil {
				return err
			}
			if asJSON {
				return printCountsJSON(c.OutOrStdout(), table)
			}
			return printCounts(c.OutOrStdout(), table)
		},
	}
	c.Flags().IntVar(&ingredients, "ingredients", 0, "number `N` of ingredients to choose from")
	c.Flags().IntVar(&total, "total", 0, "number `M` of units to divide")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	must(c.MarkFlagRequired("ingredients"))
	must(c.MarkFlagRequired("total"))
	return c
}

// maxCountedSizes is the greatest number of counts that kir count prints in full; there is one count for each
// number of ingredients. With thousands of ingredients each count has thousands of digits.
const maxCountedSizes = 10_000

type countsJSON struct {
	Ingredients int             `json:"ingredients"`
	Total       int             `json:"total"`
	Counts      []sizeCountJSON `json:"counts"`
	Sum         *big.Int        `json:"sum"`
}

type sizeCountJSON struct {
	N     int      `json:"n"`
	Count *big.Int `json:"count"`
}

func printCountsJSON(w io.Writer, of *count.Table) error {
	out := countsJSON{Ingredients: of.IngredientCount(), Total: of.Total(), Sum: of.TotalCount()}
	for n, x := range of.Counts(1, of.MaxUsed()) {
		out.Counts = append(out.Counts, sizeCountJSON{n, x})
	}
	return writeJSON(w, out)
}

func printCounts(w io.Writer, of *count.Table) error {
	t := terminal.NewTable(0, "ingredients used", "compositions")
	for n, x := range of.Counts(1, of.MaxUsed()) {
		t.Row(n, number.Grouped(x))
	}
	t.Row("all", number.Grouped(of.TotalCount()))
	return t.Write(w)
}
