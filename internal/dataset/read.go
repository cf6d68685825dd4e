package dataset

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"

	"kir/internal/measure"
)

// ReadFile reads a book from the file at path, as [Read] does. Reading stops when ctx ends.
// If the table is refused, it reads the file again to try fixes; see [TryFixes].
func ReadFile(ctx context.Context, path string, o Options) (*Book, error) {
	read := func(o Options) (*Book, error) {
		return readFile(ctx, path, func(r io.Reader) (*Book, error) { return Read(r, path, o) })
	}
	b, err := read(o)
	if err != nil && CanReadAgain(path) {
		return nil, TryFixes(err, o, read)
	}
	return b, err
}

// CanReadAgain reports whether the file at path can be read several times, unlike a pipe.
func CanReadAgain(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Read reads a book. The first bytes of the file determine its format: an .xlsx or .ods workbook,
// or else CSV. The parameter file is the name of the file in messages. The documentation of the
// package describes the two forms of a table, and docs/tables.md describes the cells.
//
// In the long form the rows of a recipe need not be consecutive. A row without the name of a recipe
// belongs to the recipe above. An amount of 0 means that the ingredient is not used; in the wide
// form, an empty cell means the same. The unit of an amount may be empty; then the amount is a
// plain number. A label may be empty, either in all rows of a recipe or in none. Empty rows are
// skipped. There are no comment lines. A row may have up to 4 MiB.
//
// If the file is a file of results, see [Results], the recipes are the entries that count.
//
// A fault in the file is an [*Error]. If there are several, the error is an [*inputerr.Errors] with
// the first 20 by line. Book.Notes holds the interpretations of what the table leaves open.
func Read(r io.Reader, file string, o Options) (*Book, error) {
	units := o.Units
	if units == nil {
		units = measure.DefaultUnits()
	}
	s, err := openSource(r, file, o.Layout, weightOf)
	if err != nil {
		return nil, unwrapFatal(err)
	}
	if err := s.unfoldBlocks(units); err != nil {
		return nil, unwrapFatal(err)
	}
	t, err := s.readTable(o.Layout, units, func(row []string) bool { return slices.ContainsFunc(row, isRecipeHeader) })
	if err != nil {
		return nil, unwrapFatal(err)
	}
	if isResultsHeader(t.header) {
		results, err := readResults(t, o.Ingredients, units)
		if err != nil {
			return nil, err
		}
		return results.Book(), nil
	}
	if err := t.fillDittos(units); err != nil {
		return nil, err
	}
	units = t.legendUnits(units)
	if t.namesRecipesInHeadings(o) {
		if t, err = t.expandHeadings(o.Layout, units); err != nil {
			return nil, unwrapFatal(err)
		}
	}
	turned := t.isTransposed(o, units)
	var before *table
	if turned {
		before = t
		if t, err = before.transpose(o.Layout, units); err != nil {
			return nil, unwrapFatal(err)
		}
		o = t.transposedOptions(o, before)
	}
	notes, guessed := len(t.notes), t.guessedLayout
	guessed.Columns = maps.Clone(guessed.Columns)
	columns, long, err := readColumns(t, o, units)
	if !long && !turned {
		if filled, failed := t.fillDown(units); failed != nil {
			return nil, failed
		} else if filled {
			t.notes, t.guessedLayout = t.notes[:notes], guessed
			t.addDoubtfulNote(t.headerPlaces[0], "rows without a name are taken as further trials of the recipe above them")
			columns, long, err = readColumns(t, o, units)
		}
	}
	none := (*noAmountsError)(nil)
	if hasNone := errors.As(err, &none); hasNone || err == nil && fewGuessedAmounts(columns, long, o) {
		formulas := -1
		if !turned {
			formulas = t.formulaColumn()
		}
		switch {
		case formulas >= 0:
			t.notes, t.guessedLayout = t.notes[:notes], Layout{}
			if t, err = t.expandFormulas(formulas, o.Layout, units); err != nil {
				return nil, unwrapFatal(err)
			}
			if columns, long, err = readColumns(t, o, units); errors.As(err, &none) {
				return nil, none.err
			}
		case hasNone:
			return nil, none.err
		}
	}
	if err != nil {
		return nil, err
	}
	t.dropProfiles()
	t.allowsFootnotes = true
	b := newBuilder(t, columns, long, o.Ingredients, units, o.Layout)
	for i := range b.labelColumns {
		if slices.Contains(o.Conditions, b.labelColumns[i].Name) {
			b.conditionLabels = append(b.conditionLabels, i)
		}
	}
	b.book.Transposed = turned
	if err := t.readRows(&b.faults, b.readRow); err != nil {
		return nil, err
	}
	known, err := b.finish()
	if err == nil {
		known.Shape = shapeOf(t, columns, before)
	}
	return known, err
}

// fewGuessedAmounts reports whether a table in the wide form has one or two columns of amounts, which the reader guessed.
func fewGuessedAmounts(columns []Column, long bool, o Options) bool {
	if long || o.Ingredients != nil {
		return false
	}
	amounts := 0
	for _, c := range columns {
		if c.Role == IngredientColumn {
			amounts++
			if o.Columns[c.Name] == IngredientColumn {
				return false
			}
		}
	}
	return amounts <= 2
}
