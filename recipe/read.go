package recipe

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"kir/fault"
)

// Options are what a reader of books is told beside the file. The zero value
// will do for most books.
type Options struct {
	// Labels are columns that are labels. They must exist; other columns may be
	// labels as well.
	Labels []string

	// Units are the units that the book may use, if not [DefaultUnits].
	Units *Units

	// Ingredients are the only ones that the book may use, and give them their
	// order. If nil, they are taken from the book.
	Ingredients *Ingredients

	// Layout says how the table is to be read, where that is not left to what the
	// table shows.
	Layout
}

// A NoLabelError is behind the [*Error] for a column of [Options] that the book
// does not have. Whoever named it may know a better place to point to.
type NoLabelError struct{ Name string }

func (e *NoLabelError) Error() string { return "no label " + fault.Quote(e.Name) }

// A ChangesError is behind the [*Error] for a column that cannot be a label, as
// it changes within a recipe.
type ChangesError struct{ Column string }

func (e *ChangesError) Error() string { return fault.Quote(e.Column) + " changes within a recipe" }

// ReadFile reads a book from a file, see [Read].
func ReadFile(path string, o Options) (*Book, error) {
	return readFile(path, func(r io.Reader) (*Book, error) { return Read(r, path, o) })
}

// mostErrors is how many errors of a file are told at once.
const mostErrors = 20

// Read reads a book. What the file is shows in how it begins: an .xlsx workbook,
// JSON-LD with recipes of schema.org, or else CSV. file is the name for
// messages, and an ending .csv, .tsv, .txt, .json or .jsonld tells CSV from JSON.
// The package's documentation describes the forms, docs/tables.md what cells may
// hold.
//
// In the long form the rows of a recipe need not follow each other, and where
// the cell of its name is empty a row belongs to the recipe above. An amount of
// 0 says that an ingredient is not used; in the wide form, so does an empty
// cell. A unit may be empty, which makes the amounts of that recipe plain
// numbers. A label may be empty, in all rows of a recipe or in none. Rows of
// nothing at all are skipped; there are no comments. A row may take up to 4 MiB.
//
// What is wrong in the file is an [*Error] or, if it is several things, a
// [*fault.Errors] of the first 20 by line. What was understood without being
// said is in [Book.Notes].
func Read(r io.Reader, file string, o Options) (*Book, error) {
	units := o.Units
	if units == nil {
		units = DefaultUnits()
	}
	t, err := newTable(r, file, o.Layout, units, meansRecipes)
	if err != nil {
		return nil, plainError(err)
	}
	columns, long, err := readColumns(t, o, units)
	if err != nil {
		return nil, err
	}
	t.forget()
	b := newBuilder(t, columns, long, o.Ingredients, units)
	if err := t.each(&b.faults, b.readRow); err != nil {
		return nil, err
	}
	return b.finish()
}

// plainError returns the *Error within a fatalError, and other errors as they
// are.
func plainError(err error) error {
	if fatal := (fatalError{}); errors.As(err, &fatal) {
		return fatal.bad
	}
	return err
}

// faults are the errors that were found in a file.
type faults struct {
	all    []*Error
	broken bool // a row could not be read at all
}

// add takes down an error.
func (f *faults) add(e *Error) { f.all = append(f.all, e) }

// full is whether there are enough of them.
func (f *faults) full() bool { return len(f.all) >= mostErrors }

// join returns them as one error, by line, nil if there are none.
func (f *faults) join() error {
	slices.SortStableFunc(f.all, func(a, b *Error) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	// A cell that cannot be read is told of once.
	f.all = slices.CompactFunc(f.all, func(a, b *Error) bool { return a.Cell != "" && a.Cell == b.Cell })
	more := f.full()
	return fault.Join(f.all[:min(len(f.all), mostErrors)], more)
}

// each reads the rows to the end, or until there are enough errors. It returns
// failures of the machine alone.
func (t *table) each(f *faults, read func()) error {
	for _, e := range t.broken {
		f.add(e)
	}
	for !f.full() {
		err := t.next()
		fatal := (fatalError{})
		bad := (*Error)(nil)
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &fatal):
			f.add(fatal.bad)
			f.broken = true
			return nil
		case errors.As(err, &bad):
			f.add(bad)
			f.broken = true
		case err != nil:
			return err
		default:
			read()
		}
	}
	return nil
}
