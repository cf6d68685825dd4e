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

// tableFlags are the flags of a table of the shortlist.
type tableFlags struct {
	csv, xlsx        bool
	out, group, cost string
}

func (f *tableFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.csv, "csv", false, "print a table as CSV")
	c.Flags().BoolVar(&f.xlsx, "xlsx", false, "write a workbook: a sheet of recipes and one of figures")
	c.Flags().StringVarP(&f.out, "output", "o", "", "`FILE` for the table, which must not exist (default: stdout)")
	c.Flags().StringVar(&f.group, "group", "", "`COLUMN` of the ingredients that groups them (default: the first that does)")
	c.Flags().StringVar(&f.cost, "cost", "", "`COLUMN` of the ingredients that is their cost (default: cost)")
	must(c.MarkFlagFilename("output", "csv", "xlsx", "html"))
}

// write writes the shortlist, or its first entries.
func (f *tableFlags) write(c *cobra.Command, location string, m *report.Model, best int) error {
	list := m.Best
	if best > 0 {
		list = list[:min(best, len(list))]
	}
	if len(list) == 0 {
		return &inputerr.Error{File: location, Message: "the run has no shortlist"}
	}
	rack, err := f.ingredientOrder(c, location)
	if err != nil {
		return err
	}
	recipes, figures := view.Sheets(list, m, rack)
	var b bytes.Buffer
	if f.csv {
		err = sheet.CSV(&b, view.JoinSheets(recipes, figures))
	} else {
		err = sheet.Workbook(&b, recipes, figures)
	}
	if err != nil {
		return err
	}
	return f.save(c, b.Bytes())
}

// save writes data to the named file, or to stdout.
func (f *tableFlags) save(c *cobra.Command, data []byte) error {
	if f.out == "" {
		if f.xlsx && isTerminal(c.OutOrStdout()) {
			return &inputerr.Error{Message: "a workbook is nothing for a terminal", Hint: "name a file with -o"}
		}
		_, err := c.OutOrStdout().Write(data)
		return err
	}
	err := writeNew(f.out, data)
	if errors.Is(err, fs.ErrExist) {
		return &inputerr.Error{File: f.out, Message: "the file exists", Hint: "choose another name with -o", Err: err}
	}
	return err
}

// ingredientOrder returns the groups and costs of a run's ingredients. If the problem file is gone,
// it returns nothing and prints a message.
func (f *tableFlags) ingredientOrder(c *cobra.Command, location string) (report.IngredientOrder, error) {
	s, err := readSource(c, location)
	if err != nil {
		logger(c.ErrOrStderr(), false)(fmt.Sprintf("the order of the groups and costs are not known: %v", err))
		return report.IngredientOrder{}, nil
	}
	return newIngredientOrder(s.Attributes, f.group, f.cost)
}

// newIngredientOrder finds the columns with the groups and costs of ingredients.
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
