package compile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"kir/internal/assetstats"
	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/model"
)

// A Table is a source of a table's text, with its name for messages. Once is true if it can be read only
// once, such as a pipe.
type Table struct {
	Name string
	Open func() (io.ReadCloser, error)
	Once bool
}

// openAndRead opens a table, reads it and closes it.
func openAndRead[T any](t Table, by func(io.Reader, string) (T, error)) (v T, err error) {
	in, err := t.Open()
	if err != nil {
		return v, err
	}
	v, err = by(in, t.Name)
	return v, errors.Join(err, in.Close())
}

// ReadTable reads the table of a draft: recipes, or the prices or returns of assets over time. Columns that
// change within a recipe cannot be labels; it leaves them out and records that in the layout. A cell
// without a number in a label of numbers is an error.
func (d *Draft) ReadTable(t Table, o dataset.Options) (err error) {
	labels := o.Labels
	if !t.Once && len(labels) == 0 && o.Ingredients == nil && len(o.Columns) == 0 {
		s, err := openAndRead(t, func(r io.Reader, name string) (*dataset.Series, error) {
			return dataset.ReadSeries(r, name, o.Layout, nil)
		})
		if err == nil && isHistory(s) {
			d.Series, d.Layout = s, o.Layout.Merge(s.Guessed)
			return nil
		}
	}
	d.Series = nil
	d.Book, err = ReadStableColumns(&o.Layout, func() (*dataset.Book, error) {
		return openAndRead(t, func(r io.Reader, name string) (*dataset.Book, error) { return dataset.Read(r, name, o) })
	})
	if err != nil {
		return err
	}
	if columns := d.misreadConditions(); len(columns) > 0 && o.Ingredients == nil {
		roles := make(map[string]dataset.Role)
		for _, name := range columns {
			if _, told := o.Columns[name]; !told {
				roles[name] = dataset.LabelColumn
			}
		}
		if len(roles) > 0 {
			again := o
			again.Layout = o.Layout.Merge(dataset.Layout{Columns: roles})
			if b, err := openAndRead(t, func(r io.Reader, name string) (*dataset.Book, error) { return dataset.Read(r, name, again) }); err == nil && !t.Once {
				d.Book, o = b, again
			}
		}
	}
	d.foundConditions = nil
	found, questions := d.findConditions(labels)
	d.foundConditions = found
	d.noteConditions(found)
	d.Book.Notes = slices.Concat(questions, d.Book.Notes)
	if err := d.Book.CheckNumbers(); err != nil { // otherwise a column of numbers could be taken for classes
		return err
	}
	d.Layout = o.Layout.Merge(d.Book.Guessed)
	given := make(map[string]dataset.Role)
	for _, name := range labels {
		given[dataset.NormalizeName(name)] = dataset.LabelColumn
	}
	d.Layout = d.Layout.Merge(dataset.Layout{Columns: given})
	return nil
}

// isHistory reports whether a series has prices or returns. Its rows must have dates. Its numbers must move
// as prices do, or some must be negative, which amounts never are.
func isHistory(s *dataset.Series) bool {
	const fewest = 3 // least number of rows
	_, dated := assetstats.Dates(s.Times)
	if !dated || len(s.Times) < fewest || len(s.Columns) < 2 {
		return false
	}
	var whole [][]float64
	for _, row := range s.Values {
		if slices.ContainsFunc(row, func(v float64) bool { return v < 0 }) {
			return true
		}
		if !slices.ContainsFunc(row, math.IsNaN) {
			whole = append(whole, row)
		}
	}
	return len(whole) >= fewest && assetstats.KindOf(whole) == assetstats.Prices
}

// ReadStableColumns reads a table. Columns that change within a recipe cannot be labels; it leaves them out
// and records that in the layout.
func ReadStableColumns(layout *dataset.Layout, read func() (*dataset.Book, error)) (*dataset.Book, error) {
	var left []string
	for {
		known, err := read()
		if err == nil {
			for _, name := range left {
				known.Notes = append(known.Notes, dataset.Note{File: known.File, Message: "column " + inputerr.Quote(name) + " changes within a recipe and is left out", Doubtful: true})
			}
			return known, nil
		}
		ignored := make(map[string]dataset.Role)
		for _, e := range inputerr.All(err) {
			changes := (*dataset.ChangesError)(nil)
			if !errors.As(e, &changes) {
				return nil, err
			}
			for _, column := range changes.All {
				ignored[column] = dataset.IgnoredColumn
			}
		}
		if len(ignored) == 0 {
			return nil, err
		}
		left = append(left, slices.Sorted(maps.Keys(ignored))...)
		*layout = layout.Merge(dataset.Layout{Columns: ignored})
	}
}

// Finish returns the text of a draft that can be sampled as the file out, in the directory of its tables.
// If a model is weak, it adds the objective that ingredients go together as in the recipes. If constraints
// conflict, it leaves out constraints that the user has not chosen: one if that is enough, else the last,
// then one more, and so on.
func (d *Draft) Finish(ctx context.Context, out string) ([]byte, error) {
	weak, text, err := d.writeAndCheck(ctx, out)
	for isConflict(err) {
		var free []string // constraints that the user has not chosen
		for _, b := range d.OfferedBounds() {
			if _, chosen := d.Bounds[b.Key]; b.On && !chosen {
				free = append(free, b.Key)
			}
		}
		if len(free) == 0 {
			break
		}
		said := d.Bounds
		for k := len(free) - 1; k >= 0 && isConflict(err); k-- {
			d.Bounds = withoutBound(said, free[k])
			weak, text, err = d.writeAndCheck(ctx, out)
		}
		if isConflict(err) {
			d.Bounds = withoutBound(said, free[len(free)-1])
		}
	}
	if err != nil || !weak || d.Pairs || d.NoPairs {
		return text, err
	}
	d.Pairs = true
	_, paired, err := d.writeAndCheck(ctx, out)
	if err != nil { // the draft remains usable without the added objective
		d.Pairs = false
		return text, ctx.Err()
	}
	return paired, nil
}

// isConflict reports whether an error says that constraints conflict.
func isConflict(err error) bool { return errors.As(err, new(*ConflictError)) }

// withoutBound returns a copy of bounds with one of them off.
func withoutBound(bounds map[string]bool, off string) map[string]bool {
	all := maps.Clone(bounds)
	if all == nil {
		all = make(map[string]bool)
	}
	all[off] = false
	return all
}

// writeAndCheck writes the draft and loads it as a problem. weak reports whether a model of it is weak.
func (d *Draft) writeAndCheck(ctx context.Context, out string) (weak bool, text []byte, err error) {
	if text, err = d.Write(); err != nil {
		return false, nil, err
	}
	p, err := Load(ctx, out, Options{Text: text})
	if err != nil {
		return false, nil, fmt.Errorf("what was written for this table cannot be sampled: %w", err)
	}
	for _, w := range p.Properties {
		if w.Weight > 0 && w.Model != nil {
			q := w.Model.Quality()
			weak = weak || q.Strength() == model.Weak
		}
	}
	return weak, text, p.Close()
}

// Objectives of a portfolio.
const (
	Ratio      config.Direction = "ratio"
	Return     config.Direction = "return"
	Volatility config.Direction = "volatility"
	Frontier   config.Direction = "frontier" // the trade-off between return and volatility
)

// Keys of a portfolio's objective and constraints.
const (
	Portfolio  = "portfolio"
	MostOfOne  = "most"
	LeastOfOne = "least"
)

// Defaults of a portfolio's constraints.
const (
	minAssets, maxAssets = 4, 12
	maxSharePercent      = 30 // percent
	minSharePercent      = 2
)

// assetRange returns the least and the greatest number of assets in a portfolio.
func (d *Draft) assetRange() (fewest, most int) {
	n := len(d.Series.Columns)
	return min(n, minAssets), min(n, maxAssets)
}

// marketTargets returns the objective of a portfolio.
func (d *Draft) marketTargets() []Target {
	t := Target{Key: Portfolio, Name: Portfolio, Directions: []config.Direction{Ratio, Frontier, Return, Volatility}, Known: len(d.Series.Times), Objective: DraftObjective{Direction: Ratio}}
	if g, ok := d.Objectives[Portfolio]; ok && slices.Contains(t.Directions, g.Direction) {
		t.Objective = g
	}
	return []Target{t}
}

// marketBounds returns the constraints of a portfolio.
func (d *Draft) marketBounds() []Bound {
	fewest, _ := d.assetRange()
	all := []Bound{
		{Key: MostOfOne, Words: fmt.Sprintf("At most %d %% in one asset", maxSharePercent), Lines: []string{fmt.Sprintf(`amount: {of: "*", max: "%d%%"}`, maxSharePercent)}, On: fewest*maxSharePercent >= 100},
		{Key: LeastOfOne, Words: fmt.Sprintf("At least %d %% in each that is held", minSharePercent), Lines: []string{fmt.Sprintf(`amount: {of: "*", min: "%d%%"}`, minSharePercent)}, On: true},
	}
	if fewest*maxSharePercent < 100 {
		all = all[1:]
	}
	return all
}

// writeMarket writes the draft of a portfolio.
func (w *draftWriter) writeMarket() []byte {
	s := w.Series
	w.writeLine("%s", schema.Modeline(schema.FileName))
	w.writeLine("# %s over %s: written by kir init to start from.", inputerr.Count(len(s.Columns), "asset"), inputerr.Count(len(s.Times), "row"))
	w.writeLine("# Check it with kir check, sample it with kir sample. A line behind # does nothing.")
	w.writeLine("name: %s", dataset.YAMLText(strings.TrimSuffix(filepath.Base(w.Table), filepath.Ext(w.Table))))
	w.writeNotes("", s.Notes)
	names := make([]string, len(s.Columns))
	for i, name := range s.Columns {
		names[i] = dataset.YAMLText(name)
	}
	w.writeLine("ingredients: [%s]", strings.Join(names, ", "))
	w.writeLine("total: 100 # steps of one percent")
	fewest, most := w.assetRange()
	w.writeLine("sparsity: {uniform: [%d, %d]} # how many assets are held", fewest, most)
	w.writeLine("# The objectives: a year's return and risk follow from the table.")
	w.writeLine("properties:")
	of := dataset.TableYAML("returns", filepath.ToSlash(w.Table), w.Layout)
	goal := w.Targets()[0].Objective.Direction
	for _, p := range []struct {
		name, asks string
		way        config.Direction
	}{
		{"ratio", "maximize: ratio", Ratio}, {"return", "maximize: return", Return}, {"volatility", "minimize: volatility", Volatility},
	} {
		off := "# "
		if p.way == goal || goal == Frontier && p.way != Ratio {
			off = ""
		}
		w.writeLine("  %s%s: {markowitz: {%s, %s}}", off, p.name, of, p.asks)
	}
	if goal == Frontier {
		w.writeLine("trade: [return, volatility]")
	}
	w.writeLine("# Constraints, which every portfolio keeps: take away # from those you want, and put it before others.")
	offered := w.OfferedBounds()
	if slices.ContainsFunc(offered, func(b Bound) bool { return b.On }) {
		w.writeLine("constraints:")
	} else {
		w.writeLine("# constraints:")
	}
	for _, b := range offered {
		off := "  - "
		if !b.On {
			off = "#   - "
		}
		w.writeLine("%s%s", off, b.Lines[0])
	}
	return []byte(w.text.String())
}

// Contents describes the draft's tables, and returns the guesses made about them.
func (d *Draft) Contents() (string, []dataset.Note) {
	if s := d.Series; s != nil {
		return inputerr.Count(len(s.Columns), "asset") + " over " + inputerr.Count(len(s.Times), "row"), s.Notes
	}
	return inputerr.Count(len(d.Book.Recipes), "recipe") + ", " + inputerr.Count(d.Book.Ingredients.Len(), "ingredient"), slices.Concat(d.Book.Ingredients.Notes, d.Book.Notes)
}

// maxSheets is the greatest number of other sheets of a workbook that are examined.
const maxSheets = 20

// ReadIngredientsSheet looks for another sheet of the workbook that lists the ingredients. If it finds one,
// it reads the recipes again with it and stores its layout in the draft. It returns the sheet's name, empty
// if there is none, and the ingredients that the sheet lacks. If it lacks any, the recipes stay unchanged.
func (d *Draft) ReadIngredientsSheet(t Table, o dataset.Options) (sheet string, lacking []string) {
	if t.Once || d.Book == nil || d.Book.Shape == nil || d.Book.Shape.Sheet == "" {
		return "", nil
	}
	o.Sheet = d.Book.Shape.Sheet
	seen, found := 0, false
	look := func(other string, readSheet func() (*dataset.Ingredients, error)) (more bool) {
		if seen++; seen > maxSheets {
			return false
		}
		if other == o.Sheet {
			return true
		}
		list, err := readSheet()
		if err != nil || len(list.Attributes) == 0 {
			return true
		}
		var not []string
		for _, name := range d.Book.Ingredients.Names {
			if _, ok := list.Index(name); !ok {
				not = append(not, name)
			}
		}
		switch {
		case 2*len(not) > d.Book.Ingredients.Len():
			return true
		case len(not) > 0:
			if sheet == "" {
				sheet, lacking = other, not
			}
			return true
		}
		with, options := *d, o
		options.Ingredients = list
		if err := with.ReadTable(t, options); err != nil {
			return true
		}
		with.IngredientsLayout = list.Guessed.Merge(dataset.Layout{Sheet: other})
		*d = with
		sheet, lacking, found = other, nil, true
		return false
	}
	in, err := t.Open()
	if err != nil {
		return "", nil // the earlier reading remains valid
	}
	err = errors.Join(dataset.VisitIngredients(in, t.Name, look), in.Close())
	if err != nil && !found {
		return "", nil
	}
	return sheet, lacking
}
