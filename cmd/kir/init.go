package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kir/internal/compile"
	"kir/internal/config/schema"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/terminal"
)

// initOptions are the flags of kir init.
type initOptions struct {
	outputFile, ingredientsFile string
	ingredientsSheet            string // sheet of the table of ingredients
	writtenIngredients          string // file for what the table says of the ingredients
	writtenConstituents         string // file for what dilutions consist of
	objectives                  []string
	labels, results, units      []string
	conditions                  []string
	layoutFlags                 layoutFlags
}

func newInitCommand() *cobra.Command {
	o := &initOptions{}
	c := &cobra.Command{
		Use:   "init TABLE [-o FILE]",
		Short: "Write a problem file for a table of recipes",
		Long: `Write a problem file for a table of recipes. The file states the columns and results, the
usual number of ingredients per recipe, and one objective. Constraints keep the amount
of each ingredient within its range in your recipes. Limits and stocks in the table of
ingredients (--ingredients) become constraints, too. Other objectives and constraints
are in the file as comments. If results are hard to predict, kir adds an objective that
favours ingredients found together in your recipes. From a table of prices or returns
over time, kir writes a portfolio problem. You can run kir sample on the file as it is.
kir also writes ` + schema.FileName + `, if it is missing, so that text editors can
complete and check the problem file.

TABLE is CSV in any usual encoding, with commas, semicolons or tabs, or an .xlsx or .ods
workbook. The problem file lists the guesses about the table; flags override them.
docs/tables.md describes the tables that kir reads.`,
		Example: `  kir init recipes.csv
  kir init bar.xlsx --sheet Drinks --ingredients stock.csv -o bar.yaml
  kir init cakes.csv --units 'g=0.1 cl' --units 'piece=5 cl'`,
		Args: requireOneArg("table of recipes"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"csv", "xlsx", "ods", "fods", "tsv", "txt"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: o.run,
	}
	o.addFlags(c)
	return c
}

func (o *initOptions) addFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.outputFile, "output", "o", "problem.yaml", "`FILE` to write; it must not exist")
	c.Flags().StringVar(&o.writtenIngredients, "write-ingredients", "", "`FILE` to write: prices and other data of ingredients that TABLE contains")
	c.Flags().StringVar(&o.writtenConstituents, "write-constituents", "", "`FILE` to write: the constituents of dilutions, such as \"Ambroxan 10 % in DPG\"")
	o.addReadingFlags(c)
	must(c.MarkFlagFilename("output", "yaml"))
	must(c.MarkFlagFilename("write-ingredients", "csv"))
	must(c.MarkFlagFilename("write-constituents", "csv"))
	c.MarkFlagsMutuallyExclusive("write-ingredients", "ingredients")
	c.MarkFlagsMutuallyExclusive("write-ingredients", "ingredients-sheet")
}

// addReadingFlags adds the flags that say how to read a table of recipes and what is wanted of its results.
func (o *initOptions) addReadingFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.ingredientsFile, "ingredients", "", "`FILE` with a table of the ingredients: names, prices, groups and so on")
	c.Flags().StringVar(&o.ingredientsSheet, "ingredients-sheet", "", "name of the `SHEET` with the ingredients, in the --ingredients workbook or in TABLE")
	c.Flags().StringArrayVar(&o.objectives, "objective", nil, "`RESULT` to optimise, such as liking=maximize, cost=minimize or, for a class, taste=Fresh (without \"=\", kir guesses)")
	c.Flags().StringSliceVar(&o.labels, "labels", nil, "`COLUMNS` of results or remarks, not ingredients, separated by commas, such as liking,remarks")
	c.Flags().StringSliceVar(&o.results, "results", nil, "the same as --labels: `COLUMNS` of results or remarks, separated by commas")
	c.Flags().StringSliceVar(&o.conditions, "conditions", nil, "`COLUMNS` that you set in a trial (conditions), separated by commas, such as temperature,time")
	c.Flags().StringSliceVar(&o.units, "units", nil, "size of a unit, `UNIT=AMOUNT`, such as 'piece=5 cl'")
	o.layoutFlags.addTo(c)
	must(c.MarkFlagFilename("ingredients", "csv", "xlsx", "ods"))
}

// run writes a problem file and its schema, and prints what was guessed about the table.
func (o *initOptions) run(c *cobra.Command, args []string) error {
	if _, err := os.Lstat(o.outputFile); err == nil {
		return &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(o.outputFile)), Hint: "name another file with -o"}
	}
	if o.writtenIngredients != "" {
		if _, err := os.Lstat(o.writtenIngredients); err == nil {
			return &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(o.writtenIngredients)), Hint: "name another file with --write-ingredients, or use this one with --ingredients"}
		}
	}
	if o.writtenConstituents != "" {
		if _, err := os.Lstat(o.writtenConstituents); err == nil {
			return &inputerr.Error{Message: fmt.Sprintf("%s exists and is not overwritten", inputerr.Quote(o.writtenConstituents)), Hint: "name another file with --write-constituents"}
		}
	}
	d, tables, err := o.readDraft(c.Context(), args[0])
	if err != nil {
		return err
	}
	if err := o.saveDraft(c.Context(), d, tables); err != nil {
		return err
	}
	if err := saveSchema(filepath.Dir(o.outputFile)); err != nil {
		return err
	}
	return printDraft(c.OutOrStdout(), d, o.outputFile)
}

// A draftTable is a table that is to be written beside the problem file.
type draftTable struct {
	file string
	text []byte
}

// readDraft reads the table of recipes and the table of ingredients, and makes a draft of a problem from them. written are
// the tables of ingredients and of constituents that are to be written.
func (o *initOptions) readDraft(ctx context.Context, file string) (d *compile.Draft, written []draftTable, err error) {
	layout, err := o.layoutFlags.buildLayout()
	if err != nil {
		return nil, nil, err
	}
	d = &compile.Draft{Layout: layout}
	for _, name := range o.conditions {
		d.SetColumns = append(d.SetColumns, dataset.NormalizeName(name))
	}
	labels := slices.Concat(o.labels, o.results)
	for _, name := range labels {
		d.MeasuredColumns = append(d.MeasuredColumns, dataset.NormalizeName(name))
	}
	options := dataset.Options{Labels: labels, Layout: layout.Merge(labelColumns(d.SetColumns))}
	if d.Units, options.Units, err = parseUnits(o.units); err != nil {
		return nil, nil, err
	}
	if o.ingredientsFile != "" {
		if options.Ingredients, err = o.readIngredients(ctx, d); err != nil {
			return nil, nil, err
		}
	}
	info, err := os.Stat(file)
	table := compile.Table{Name: file, ReadableOnce: err == nil && !info.Mode().IsRegular(),
		Open: func() (io.ReadCloser, error) { return dataset.OpenFile(ctx, file) }}
	if err := d.ReadTable(table, options); err != nil {
		return nil, nil, replaceSettingsByFlags(err)
	}
	if d.Table, err = relativePath(o.outputFile, file); err != nil {
		return nil, nil, err
	}
	if o.ingredientsFile == "" {
		d.FindIngredientsSheets(table)
	}
	switch {
	case o.writtenIngredients != "":
		path, err := relativePath(o.outputFile, o.writtenIngredients)
		if err != nil {
			return nil, nil, err
		}
		text, err := d.UseAsides(table, options, path)
		if err != nil {
			return nil, nil, replaceSettingsByFlags(err)
		}
		written = append(written, draftTable{o.writtenIngredients, text})
	case o.ingredientsSheet != "" && o.ingredientsFile == "":
		if err := d.UseIngredientsSheet(table, options, o.ingredientsSheet); err != nil {
			return nil, nil, replaceSettingsByFlags(err)
		}
	}
	if o.writtenConstituents != "" {
		path, err := relativePath(o.outputFile, o.writtenConstituents)
		if err != nil {
			return nil, nil, err
		}
		text, err := d.UseDilutions(path)
		if err != nil {
			return nil, nil, err
		}
		written = append(written, draftTable{o.writtenConstituents, text})
	}
	if len(o.objectives) > 0 {
		if err := d.ChooseObjectives(o.objectives); err != nil {
			return nil, nil, err
		}
	}
	return d, written, nil
}

// readIngredients reads the table of ingredients that a flag names.
func (o *initOptions) readIngredients(ctx context.Context, d *compile.Draft) (list *dataset.Ingredients, err error) {
	path, err := relativePath(o.outputFile, o.ingredientsFile)
	if err != nil {
		return nil, err
	}
	in, err := dataset.OpenFile(ctx, o.ingredientsFile)
	if err != nil {
		return nil, err
	}
	list, err = d.ReadIngredientsTable(in, o.ingredientsFile, o.ingredientsSheet, path)
	return list, errors.Join(err, in.Close())
}

// labelColumns returns the layout of a table in which the columns with the given names are labels.
func labelColumns(names []string) dataset.Layout {
	var l dataset.Layout
	for _, name := range names {
		if l.Columns == nil {
			l.Columns = make(map[string]dataset.Role)
		}
		l.Columns[name] = dataset.LabelColumn
	}
	return l
}

// printDraft prints what the written problem file contains, and which guesses a person should check.
func printDraft(w io.Writer, d *compile.Draft, file string) error {
	contents, _ := d.Contents()
	text := fmt.Sprintf("%s: %s. For new recipes: kir sample %s\n", file, contents, terminal.ShellWord(file))
	for _, line := range d.Reading() {
		text += "  " + terminal.EscapeControls(line) + "\n"
	}
	if open := d.OpenObjectives(); len(open) > 1 {
		text += "No objective is set. Any of these may be one: " + inputerr.List(open, 12) + ". Choose in " + inputerr.Quote(file) + ", or with " + flagText("objective", open[0]) + "\n"
	}
	for _, b := range d.OfferedBounds() {
		if on, left := d.Bounds[b.Key]; left && !on {
			text += "Left out, as it conflicts with other constraints: " + b.Words + "\n"
		}
	}
	_, err := io.WriteString(w, text+listOffers(d)+listQuestions(d, file))
	return err
}

// listOffers returns the list of what may be used as a table of the ingredients or of their constituents.
func listOffers(d *compile.Draft) (text string) {
	add := func(what string, flags ...string) {
		if text == "" {
			text = "The table also has data on the ingredients, such as prices. To use them, add the flag:\n"
		}
		text += "  " + terminal.EscapeControls(what) + "\n"
		if len(flags) > 0 {
			text += "      " + strings.Join(flags, " ") + "\n"
		}
	}
	sheets, asides, dilutions := d.Offers, d.AsidesText(), d.DilutionsText()
	if d.Ingredients != "" {
		sheets, asides = nil, ""
	}
	if d.Constituents != "" {
		dilutions = ""
	}
	for _, o := range sheets {
		flags := []string{flagText("ingredients-sheet", o.Sheet)}
		what := o.Text()
		for _, n := range o.Near {
			what += fmt.Sprintf("; is its %s your %s?", inputerr.Quote(n.InSheet), inputerr.Quote(n.InRecipes))
			flags = append(flags, flagText("names", n.InRecipes+"="+n.InSheet))
		}
		if len(o.Near) < len(o.Lacking) {
			what += "; add to the sheet what it lacks"
		}
		add(what, flags...)
	}
	if asides != "" {
		add(asides, "--write-ingredients ingredients.csv")
	}
	if dilutions != "" {
		add(dilutions, "--write-constituents constituents.csv")
	}
	return text
}

// flagText writes a flag of kir init as a shell reads it.
func flagText(name, value string) string {
	switch name {
	case "columns", "labels", "results", "conditions", "units": // which take lists
		if strings.ContainsAny(value, ",\"\n") {
			value = `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
		}
	}
	return "--" + name + " " + terminal.EscapeControls(terminal.ShellWord(value))
}

// listQuestions returns the list of the guesses that a person should check, with the flags that settle them otherwise.
func listQuestions(d *compile.Draft, file string) (text string) {
	const most = 12
	questions, remarks := d.Questions()
	for _, q := range questions[:min(len(questions), most)] {
		if text == "" {
			text = "Check these. Where some are wrong, run kir init again with the flags below them, or change " + inputerr.Quote(file) + ":\n"
		}
		var flags []string
		for _, f := range q.Flags {
			flags = append(flags, flagText(f.Name, f.Value))
		}
		text += "  " + terminal.EscapeControls(q.Text) + "\n      " + strings.Join(flags, " or ") + "\n"
	}
	if more := len(questions) - most; more > 0 {
		text += fmt.Sprintf("  %d more are in %s\n", more, inputerr.Quote(file))
	}
	for k, n := range remarks[:min(len(remarks), most)] {
		if k == 0 {
			text += "If one of these is wrong, edit the table and run kir init again:\n"
		}
		text += "  " + terminal.EscapeControls(n.String()) + "\n"
	}
	if more := len(remarks) - most; more > 0 {
		text += fmt.Sprintf("  %d more are in %s\n", more, inputerr.Quote(file))
	}
	return text
}

// parseUnits parses sizes of units, each written as NAME=SIZE. It returns the sizes by name, and the usual units
// with these units added.
func parseUnits(texts []string) (sizes map[string]string, units *measure.Units, err error) {
	sizes, units = make(map[string]string), measure.DefaultUnits()
	for _, text := range texts {
		name, size, ok := strings.Cut(text, "=")
		if !ok {
			return nil, nil, &inputerr.Error{Message: "--units " + inputerr.Quote(text) + " has no size", Hint: "write, for example, 'piece=5 cl'"}
		}
		if units, err = units.With(name, size); err != nil {
			return nil, nil, &inputerr.Error{Message: "--units: " + err.Error()}
		}
		sizes[dataset.NormalizeName(name)] = size
	}
	return sizes, units, nil
}

// replaceSettingsByFlags writes the fixes in the hints of an error as flags, because there is no problem file yet.
func replaceSettingsByFlags(err error) error {
	for _, e := range inputerr.All(err) {
		hint, fixes := dataset.Fixes(e)
		if len(fixes) == 0 {
			continue
		}
		var texts []string
		for _, f := range fixes {
			texts = append(texts, strings.Join(fixFlags(f), " ")+" "+f.Effect)
		}
		e.Hint = dataset.JoinHint(hint, texts)
	}
	return err
}

// fixFlags returns the flags that say what a fix does.
func fixFlags(f dataset.Fix) (flags []string) {
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, flagText(name, value))
		}
	}
	if f.Unit != "" {
		add("units", f.Unit+"="+f.Size)
	}
	add("sheet", f.Layout.Sheet)
	add("encoding", f.Layout.Encoding)
	add("delimiter", f.Layout.Delimiter)
	if f.Layout.Decimal != measure.AnyDecimal {
		add("decimal", f.Layout.Decimal.String())
	}
	for _, name := range slices.Sorted(maps.Keys(f.Layout.Columns)) {
		add("columns", name+"="+compile.FlagRole(f.Layout.Columns[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Layout.Names)) {
		add("names", name+"="+f.Layout.Names[name])
	}
	for _, name := range f.Layout.Without {
		add("without", name)
	}
	for _, name := range f.Layout.Including {
		add("including", name)
	}
	for _, text := range f.Layout.Unknown {
		add("unknown", text)
	}
	return flags
}

// relativePath returns the path of a file as it is written in a problem file: relative to the directory of the
// problem file.
func relativePath(problemFile, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	here, err := filepath.Abs(filepath.Dir(problemFile))
	if err != nil {
		return "", err
	}
	there, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(here, there)
}

// saveDraft writes the draft as a problem file, after checking that it can be sampled. The tables are written before it,
// and removed if there is an error.
func (o *initOptions) saveDraft(ctx context.Context, d *compile.Draft, tables []draftTable) (err error) {
	for _, t := range tables {
		if err := createFile(t.file, t.text); err != nil {
			return fmt.Errorf("writing %s: %w", t.file, err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Remove(t.file))
			}
		}()
	}
	text, err := d.Finish(ctx, o.outputFile)
	if err != nil {
		return err
	}
	if err := createFile(o.outputFile, text); err != nil {
		return fmt.Errorf("writing %s: %w", o.outputFile, err)
	}
	return nil
}

// saveSchema writes the schema of problem files into a directory, unless the directory already has one.
func saveSchema(dir string) error {
	text, err := compile.Schema().JSON()
	if err != nil {
		return err
	}
	if err := createFile(filepath.Join(dir, schema.FileName), text); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// readWithoutVaryingColumns reads a table without the columns that cannot be labels. Its errors suggest flags as
// fixes.
func readWithoutVaryingColumns(layout *dataset.Layout, read func() (*dataset.Book, error)) (*dataset.Book, error) {
	known, err := compile.ReadStableColumns(layout, read)
	return known, replaceSettingsByFlags(err)
}
