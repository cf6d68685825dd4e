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

// A Table opens the text of a table. Name is its name in messages. Once is true if the text can be read only
// once, as from a pipe.
type Table struct {
	Name         string
	Open         func() (io.ReadCloser, error)
	ReadableOnce bool
}

// openAndRead opens a table, reads it with the function by, and closes it.
func openAndRead[T any](t Table, by func(io.Reader, string) (T, error)) (v T, err error) {
	in, err := t.Open()
	if err != nil {
		return v, err
	}
	v, err = by(in, t.Name)
	return v, errors.Join(err, in.Close())
}

// ReadTable reads the table of a draft: recipes, or the prices or returns of assets over time. A column whose
// value changes within a recipe cannot be a label. ReadTable leaves out such a column and records this in the
// layout. A cell without a number in a label of numbers is an error.
// If the table is refused and can be read again, ReadTable tries fixes; see [dataset.TryFixes].
func (d *Draft) ReadTable(t Table, o dataset.Options) error {
	err := d.readTable(t, o)
	if err == nil || t.ReadableOnce {
		return err
	}
	return dataset.TryFixes(err, o, func(o dataset.Options) (*dataset.Book, error) {
		other := *d
		err := other.readTable(t, o)
		return other.Book, err
	})
}

// readTable is ReadTable without fixes.
func (d *Draft) readTable(t Table, o dataset.Options) (err error) {
	labels := o.Labels
	o.Conditions = d.SetColumns
	if !t.ReadableOnce && len(labels) == 0 && o.Ingredients == nil && len(o.Columns) == 0 {
		s, err := openAndRead(t, func(r io.Reader, name string) (*dataset.Series, error) {
			return dataset.ReadSeries(r, name, o.Layout, nil)
		})
		if err == nil && isHistory(s) {
			d.Series, d.Layout = s, o.Layout.Merge(s.GuessedLayout)
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
	d.foundConditionColumns = nil
	found, questions := d.findConditionColumns(labels)
	d.foundConditionColumns = found
	d.noteFoundConditions(found)
	d.Book.Notes = slices.Concat(questions, d.Book.Notes)
	if err := d.Book.CheckNumbers(); err != nil { // otherwise a column of numbers could be taken for classes
		return err
	}
	d.Layout = o.Layout.Merge(d.Book.GuessedLayout)
	given := make(map[string]dataset.Role)
	for _, name := range labels {
		given[dataset.NormalizeName(name)] = dataset.LabelColumn
	}
	d.Layout = d.Layout.Merge(dataset.Layout{Columns: given})
	return nil
}

// isHistory reports whether a series is a history of prices or returns. Its rows must have dates. In
// addition, some numbers must be negative, which amounts never are, or the numbers must move as prices do.
func isHistory(s *dataset.Series) bool {
	const fewest = 3 // least number of rows
	_, dated := assetstats.ParseDates(s.Times)
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

// ReadStableColumns reads a table of recipes with the function read. A column whose value changes within a
// recipe cannot be a label. ReadStableColumns marks such a column as ignored in the layout and reads the
// table again.
func ReadStableColumns(layout *dataset.Layout, read func() (*dataset.Book, error)) (*dataset.Book, error) {
	var left []string
	for {
		known, err := read()
		if err == nil {
			for _, name := range left {
				known.Notes = append(known.Notes, dataset.Note{File: known.File, Message: "column " + inputerr.Quote(name) + " changes within a recipe and is left out"})
			}
			return known, nil
		}
		ignored := make(map[string]dataset.Role)
		for _, e := range inputerr.All(err) {
			changes := (*dataset.LabelChangeError)(nil)
			if !errors.As(e, &changes) {
				return nil, err
			}
			for _, column := range changes.AllColumns {
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

// Finish returns the text of a problem file that can be sampled. The path of the file is out, in the
// directory of the tables. If a model is weak, Finish adds the objective that ingredients occur together as
// in the recipes. If constraints conflict, it drops constraints that the user has not chosen. It first tries
// to drop a single constraint. If none suffices, it drops the last constraint for good and tries again.
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

// isConflict reports whether an error is that constraints exclude one another.
func isConflict(err error) bool { return errors.As(err, new(*ConflictError)) }

// withoutBound returns a copy of bounds in which the constraint with the key off is switched off.
func withoutBound(bounds map[string]bool, off string) map[string]bool {
	all := maps.Clone(bounds)
	if all == nil {
		all = make(map[string]bool)
	}
	all[off] = false
	return all
}

// writeAndCheck writes the problem file and loads it. weak reports whether a model of one of its objectives
// is weak.
func (d *Draft) writeAndCheck(ctx context.Context, out string) (weak bool, text []byte, err error) {
	if text, err = d.Write(); err != nil {
		return false, nil, err
	}
	p, err := Load(ctx, out, Options{Text: text, ModelCache: d.ModelCache})
	if err != nil {
		return false, nil, fmt.Errorf("what was written for this table cannot be sampled: %w", err)
	}
	for _, w := range p.Properties {
		if w.Weight > 0 && w.Model != nil {
			q := w.Model.Quality()
			weak = weak || q.Strength() == model.WeakStrength
		}
	}
	return weak, text, p.Close()
}

// Directions of the objective of a portfolio.
const (
	Ratio      config.Direction = "ratio"      // maximize the return divided by the volatility
	Return     config.Direction = "return"     // maximize the return
	Volatility config.Direction = "volatility" // minimize the volatility
	Frontier   config.Direction = "frontier"   // the trade-off between return and volatility
)

// Keys of the objective and of the constraints of a portfolio; see [Target] and [Bound].
const (
	PortfolioKey = "portfolio" // key of the objective
	MaxShareKey  = "most"      // key of the maximum share of one asset
	MinShareKey  = "least"     // key of the minimum share of an asset that is held
)

// Default constraints of a portfolio.
const (
	defaultMinAssets, defaultMaxAssets = 4, 12 // minimum and maximum number of assets held
	defaultMaxSharePercent             = 30    // maximum share of one asset, in percent
	defaultMinSharePercent             = 2     // minimum share of an asset that is held, in percent
)

// assetRange returns the least and the greatest number of assets that the portfolio may hold.
func (d *Draft) assetRange() (fewest, most int) {
	n := len(d.Series.Columns)
	return min(n, defaultMinAssets), min(n, defaultMaxAssets)
}

// portfolioTargets returns a list with the objective of a portfolio.
func (d *Draft) portfolioTargets() []Target {
	t := Target{Key: PortfolioKey, Name: PortfolioKey, Directions: []config.Direction{Ratio, Frontier, Return, Volatility}, Known: len(d.Series.Times), Objective: DraftObjective{Direction: Ratio}}
	if g, ok := d.Objectives[PortfolioKey]; ok && slices.Contains(t.Directions, g.Direction) {
		t.Objective = g
	}
	return []Target{t}
}

// portfolioBounds returns the constraints that a portfolio can have.
func (d *Draft) portfolioBounds() []Bound {
	fewest, _ := d.assetRange()
	all := []Bound{
		{Key: MaxShareKey, Words: fmt.Sprintf("At most %d %% in one asset", defaultMaxSharePercent), Lines: []string{fmt.Sprintf(`amount: {of: "*", max: "%d%%"}`, defaultMaxSharePercent)}, On: fewest*defaultMaxSharePercent >= 100},
		{Key: MinShareKey, Words: fmt.Sprintf("At least %d %% in each asset held", defaultMinSharePercent), Lines: []string{fmt.Sprintf(`amount: {of: "*", min: "%d%%"}`, defaultMinSharePercent)}, On: true},
	}
	if fewest*defaultMaxSharePercent < 100 {
		all = all[1:]
	}
	return all
}

// writePortfolio returns the text of the problem file for a portfolio.
func (w *draftWriter) writePortfolio() []byte {
	s := w.Series
	w.writeLine("%s", schema.Modeline(schema.FileName))
	w.writeLine("# The line above lets editors check this file; keep it.")
	w.writeLine("# %s over %s: written by kir init to start from.", inputerr.Count(len(s.Columns), "asset"), inputerr.Count(len(s.Times), "row"))
	w.writeLine("# Check this file with kir check; find portfolios with kir sample. kir ignores text after #.")
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
	w.writeLine("# The objectives: kir computes a year's return and risk from the table.")
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
	w.writeLine("# Constraints, which every portfolio keeps: delete # before those you want, and add # before others.")
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
	return []byte(w.yamlText.String())
}

// Contents returns a description of the size of the table, and the notes about guesses made when it was read.
func (d *Draft) Contents() (string, []dataset.Note) {
	if s := d.Series; s != nil {
		return inputerr.Count(len(s.Columns), "asset") + " over " + inputerr.Count(len(s.Times), "row"), s.Notes
	}
	return inputerr.Count(len(d.Book.Recipes), "recipe") + ", " + inputerr.Count(d.Book.Ingredients.Len(), "ingredient"), slices.Concat(d.Book.Ingredients.Notes, d.Book.Notes)
}
