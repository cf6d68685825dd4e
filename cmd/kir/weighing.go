package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"kir/internal/dataset/sheet"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/report/assemble"
	"kir/internal/report/view"
)

// weighingFlags are the flags for printing a weighing sheet, by which a person weighs out a recipe.
type weighingFlags struct {
	recipeNumber int
	asPage       bool
	scale        assemble.Scale
}

func (f *weighingFlags) addTo(c *cobra.Command) {
	c.Flags().IntVar(&f.recipeNumber, "recipe", 0, "print recipe `K` of the shortlist for weighing")
	c.Flags().StringVar(&f.scale.Batch, "batch", "", "`AMOUNT` to make, such as 750ml or 1.5kg")
	c.Flags().StringVar(&f.scale.Step, "round", "0.1", "smallest `STEP` of your scale, such as 1g (without a unit: in that of --in, else of --batch)")
	c.Flags().StringVar(&f.scale.Unit, "in", "", "`UNIT` of the weighing sheet (default: the unit of --round, else of --batch)")
	c.Flags().StringVar(&f.scale.Density, "density", "density", "`COLUMN` of the ingredients' table with the density in g/ml")
	c.Flags().BoolVar(&f.asPage, "html", false, "write the weighing sheet as a page to print")
}

// writeSheet writes the weighing sheet of one recipe of the shortlist.
func (f *weighingFlags) writeSheet(c *cobra.Command, location string, m *report.Model, t *tableFlags, asJSON bool) error {
	if f.scale.Batch == "" {
		return &inputerr.Error{Message: "a weighing sheet needs to know how much is made", Hint: "add, for example, --batch 750ml"}
	}
	if t.xlsx {
		return &inputerr.Error{Message: "a weighing sheet is text, CSV or a page", Hint: "write --csv or --html"}
	}
	entry, err := shortlistEntry(m.Best, "recipe", f.recipeNumber)
	if err != nil {
		return err
	}
	s, err := readSource(c, location)
	if err != nil {
		return err
	}
	rack, err := newIngredientOrder(s.Attributes, t.groupColumn, t.costColumn)
	if err != nil {
		return err
	}
	sheetOf, err := assemble.Weighing(s.Outline, *entry, fmt.Sprintf("%s: recipe %d", m.Problem.Name, f.recipeNumber), rack, f.scale)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	switch {
	case asJSON:
		err = writeJSON(&b, sheetOf)
	case t.csv:
		err = sheet.WriteCSV(&b, view.WeighingSheet(sheetOf))
	case f.asPage:
		err = view.WeighingPage(&b, sheetOf)
	default:
		err = view.Weighing(&b, sheetOf, textStyle(c.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	return t.writeOutput(c, b.Bytes())
}
