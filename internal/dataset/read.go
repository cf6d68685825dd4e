package dataset

import (
	"context"
	"io"
	"slices"
)

// ReadFile reads a book from a file, see [Read].
func ReadFile(ctx context.Context, path string, o Options) (*Book, error) {
	return readFile(ctx, path, func(r io.Reader) (*Book, error) { return Read(r, path, o) })
}

// Read reads a book. The beginning of the file determines its format: an .xlsx or .ods workbook,
// or else CSV. file is the name for messages. The package's documentation describes the forms,
// docs/tables.md the cells.
//
// In the long form the rows of a recipe need not be consecutive. A row without a name belongs to
// the recipe above. An amount of 0 means that an ingredient is not used; in the wide form, so does
// an empty cell. A unit may be empty, which makes the amounts of that recipe plain numbers. A label
// may be empty, in all rows of a recipe or in none. Empty rows are skipped; there are no comments.
// A row may take up to 4 MiB.
//
// A file of results, see [Results], is a book of its entries.
//
// A fault in the file is an [*Error] or, if there are several, a [*inputerr.Errors] of the first 20 by
// line. [Book.Notes] has the reader's interpretations.
func Read(r io.Reader, file string, o Options) (*Book, error) {
	units := o.Units
	if units == nil {
		units = DefaultUnits()
	}
	t, err := newTable(r, file, o.Layout, units, isRecipeHeader)
	if err != nil {
		return nil, plainError(err)
	}
	if isResults(t.header) {
		results, err := readResults(t, o.Ingredients, units)
		if err != nil {
			return nil, err
		}
		return results.Book(), nil
	}
	turned := t.isTransposed(o)
	var before *table
	if turned {
		before = t
		if t, err = before.transpose(o.Layout, units); err != nil {
			return nil, plainError(err)
		}
		o = t.transposedOptions(o, before)
	}
	columns, long, err := readColumns(t, o, units)
	if err != nil {
		return nil, err
	}
	t.dropProfiles()
	t.footnotes = true
	b := newBuilder(t, columns, long, o.Ingredients, units, o.Layout)
	for i := range b.labels {
		if slices.Contains(o.Conditions, b.labels[i].Name) {
			b.conditions = append(b.conditions, i)
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
