package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/terminal"
)

// layoutFlags are the flags that tell how to read a table: its format, its columns and the recipes to use.
type layoutFlags struct {
	sheet, encoding, delimiter, decimal          string
	columnRoles                                  []string
	ingredientNames, leftOutRecipes, keptRecipes []string
	unknownTexts                                 []string
}

// addTo adds the flags to the command c.
func (f *layoutFlags) addTo(c *cobra.Command) {
	c.Flags().StringVar(&f.sheet, "sheet", "", "name of the `SHEET` to read in a workbook")
	c.Flags().StringVar(&f.encoding, "encoding", "", "character `ENCODING` of a text file, such as windows-1252")
	c.Flags().StringVar(&f.delimiter, "delimiter", "", "`SEPARATOR` of columns: comma, semicolon, tab or bar (|)")
	c.Flags().StringVar(&f.decimal, "decimal", "", "decimal `MARK` of the numbers: point or comma")
	c.Flags().StringSliceVar(&f.columnRoles, "columns", nil, "set the role of a column, `COLUMN=ROLE`: recipe, ingredient, amount, unit, result or ignore")
	c.Flags().StringArrayVar(&f.ingredientNames, "names", nil, "rename an ingredient, `OLD=NEW`, such as Campri=Campari")
	c.Flags().StringArrayVar(&f.leftOutRecipes, "without", nil, "leave out the `ROW` with this name, such as Total")
	c.Flags().StringArrayVar(&f.keptRecipes, "including", nil, "keep the `ROW` with this name, although it looks like a total")
	c.Flags().StringArrayVar(&f.unknownTexts, "unknown", nil, "`TEXT` that means not measured, such as n.d.")
	for name, values := range map[string][]string{"delimiter": {"comma", "semicolon", "tab", "bar"}, "decimal": {"point", "comma"}} {
		must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
}

// buildLayout returns the layout of a table that the flags define.
func (f *layoutFlags) buildLayout() (dataset.Layout, error) {
	l := dataset.Layout{Sheet: f.sheet, Encoding: f.encoding, Delimiter: f.delimiter}
	var err error
	if f.decimal != "" {
		if l.Decimal, err = measure.ParseDecimal(f.decimal); err != nil {
			return l, &inputerr.Error{Message: "--decimal: " + err.Error()}
		}
	}
	for _, text := range f.columnRoles {
		at := strings.LastIndexByte(text, '=')
		if at < 1 {
			return l, &inputerr.Error{Message: "--columns " + inputerr.Quote(text) + " does not say what the column is", Hint: "write, for example, rating=result"}
		}
		name := text[at+1:]
		if name == "result" { // a label, in a problem file
			name = string(dataset.LabelColumn)
		}
		role, err := dataset.ParseRole(name)
		if err != nil {
			return l, &inputerr.Error{Message: "--columns " + inputerr.Quote(text) + ": " + err.Error()}
		}
		l = l.Merge(dataset.Layout{Columns: map[string]dataset.Role{dataset.NormalizeName(text[:at]): role}})
	}
	for _, text := range f.ingredientNames {
		at := strings.LastIndexByte(text, '=')
		if at < 1 || at == len(text)-1 {
			return l, &inputerr.Error{Message: "--names " + inputerr.Quote(text) + " does not say which ingredient it is", Hint: "write, for example, Campri=Campari"}
		}
		l = l.Merge(dataset.Layout{Names: map[string]string{dataset.NormalizeName(text[:at]): text[at+1:]}})
	}
	for _, name := range f.leftOutRecipes {
		l = l.Merge(dataset.Layout{Without: []string{dataset.NormalizeName(name)}})
	}
	for _, name := range f.keptRecipes {
		l = l.Merge(dataset.Layout{Including: []string{dataset.NormalizeName(name)}})
	}
	for _, text := range f.unknownTexts {
		l = l.Merge(dataset.Layout{Unknown: []string{dataset.NormalizeName(text)}})
	}
	return l, nil
}

// printNotes prints what was guessed about a table, and with which flags the user can correct a guess.
func printNotes(w io.Writer, notes []dataset.Note, guessed dataset.Layout) error {
	for _, n := range notes {
		if _, err := fmt.Fprintln(w, terminal.EscapeControls(n.String())+"."); err != nil {
			return err
		}
	}
	var flags []string
	for _, f := range []struct{ name, value string }{{"sheet", guessed.Sheet}, {"encoding", guessed.Encoding}, {"delimiter", guessed.Delimiter}} {
		if f.value != "" {
			flags = append(flags, "--"+f.name+" "+terminal.ShellWord(f.value))
		}
	}
	if guessed.Decimal != measure.AnyDecimal {
		flags = append(flags, "--decimal "+guessed.Decimal.String())
	}
	var columns []string
	for name, role := range guessed.Columns {
		columns = append(columns, name+"="+string(role))
	}
	slices.Sort(columns)
	for _, c := range columns {
		flags = append(flags, "--columns "+terminal.ShellWord(c))
	}
	if len(flags) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "To settle what is guessed, write, or write otherwise: "+terminal.EscapeControls(strings.Join(flags, " ")))
	return err
}
