package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"kir/internal/dataset"
	"kir/internal/dataset/sheet"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/view"
)

// tableFlags are the flags for printing the shortlist as a table.
type tableFlags struct {
	csv, xlsx                           bool
	outputFile, groupColumn, costColumn string
}

func (f *tableFlags) addTo(c *cobra.Command) {
	c.Flags().BoolVar(&f.csv, "csv", false, "print the shortlist as CSV; with --recipe, the weighing sheet")
	c.Flags().BoolVar(&f.xlsx, "xlsx", false, "write the shortlist as a workbook: one table of amounts, one of scores and predictions")
	c.Flags().StringVarP(&f.outputFile, "output", "o", "", "`FILE` to write; it must not exist (default: stdout)")
	c.Flags().StringVar(&f.groupColumn, "group", "", "`COLUMN` of the ingredients' table to group by (default: the first with groups)")
	c.Flags().StringVar(&f.costColumn, "cost", "", "`COLUMN` of the ingredients' table with the cost, on weighing sheets per litre or kilogram (default: cost)")
	must(c.MarkFlagFilename("output", "csv", "xlsx", "html"))
}

// writeShortlist writes the shortlist of a run as a table. If best is above 0, it writes only the first
// entries, at most this number.
func (f *tableFlags) writeShortlist(c *cobra.Command, location string, m *report.Model, best int) error {
	list := m.Best
	if best > 0 {
		list = list[:min(best, len(list))]
	}
	if len(list) == 0 {
		return &inputerr.Error{File: location, Message: "the run has no shortlist"}
	}
	rack, err := f.readIngredientOrder(c, location)
	if err != nil {
		return err
	}
	recipes, figures := view.Sheets(list, m, rack)
	var b bytes.Buffer
	if f.csv {
		err = sheet.WriteCSV(&b, view.JoinSheets(recipes, figures))
	} else {
		err = sheet.WriteWorkbook(&b, recipes, figures)
	}
	if err != nil {
		return err
	}
	return f.writeOutput(c, b.Bytes())
}

// writeOutput writes the data to the file that the flag --output names, or to stdout without the flag.
func (f *tableFlags) writeOutput(c *cobra.Command, data []byte) error {
	if f.outputFile == "" {
		if f.xlsx && isTerminal(c.OutOrStdout()) {
			return &inputerr.Error{Message: "a workbook is nothing for a terminal", Hint: "name a file with -o"}
		}
		_, err := c.OutOrStdout().Write(data)
		return err
	}
	err := createFile(f.outputFile, data)
	if errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{File: f.outputFile, Message: "the file exists", Hint: "choose another name with -o", Err: err}
	}
	return err
}

// readIngredientOrder returns the groups and the costs of the ingredients, which determine their order in the
// table. If the problem file cannot be read, it prints a message and returns nothing.
func (f *tableFlags) readIngredientOrder(c *cobra.Command, location string) (report.IngredientOrder, error) {
	s, err := readSource(c, location)
	if err != nil {
		newLogger(c.ErrOrStderr(), false)(fmt.Sprintf("the order of the groups and costs are not known: %v", err))
		return report.IngredientOrder{}, nil
	}
	return newIngredientOrder(s.Attributes, f.groupColumn, f.costColumn)
}

// newIngredientOrder finds the groups and the costs of the ingredients in two columns of the table of
// ingredients. It returns an error if a flag names a column that does not exist.
func newIngredientOrder(in *dataset.Ingredients, group, cost string) (report.IngredientOrder, error) {
	r := report.NewIngredientOrder(in, group, cost)
	for _, f := range []struct {
		flag, name string
		found      bool
	}{{"group", group, r.Group != nil}, {"cost", cost, r.Cost != nil}} {
		if f.name != "" && !f.found {
			return r, &inputerr.Error{Message: fmt.Sprintf("--%s: the ingredients have no such column %s", f.flag, inputerr.Quote(f.name)), Hint: "name a column of the ingredients table; a cost is a number"}
		}
	}
	return r, nil
}
