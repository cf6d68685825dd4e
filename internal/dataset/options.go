package dataset

import "kir/internal/inputerr"

// Options set how a book is read. The zero value suits most books.
type Options struct {
	// Labels are columns that are labels; other columns may be labels, too.
	Labels []string

	// LabelsOptional allows Labels that are not columns of this table. Without it they must be.
	LabelsOptional bool

	// Conditions are those of Labels that a trial sets beside its recipe. Rows of one name that
	// differ in them are trials of their own: the first keeps the name, and a later one is named,
	// for example, "M1 at age 28, oven fan".
	Conditions []string

	// Units are the units that the book may use, by default [DefaultUnits].
	Units *Units

	// Ingredients are the only ones that the book may use, and set their order. If nil, they are
	// taken from the book.
	Ingredients *Ingredients

	// Layout defines how to read the table, where the reader should not guess.
	Layout
}

// A NoLabelError is wrapped in the [*Error] for a column of [Options] that the book does not have.
// The caller that named it may have a better position for the error.
type NoLabelError struct{ Name string }

func (e *NoLabelError) Error() string { return "no label " + inputerr.Quote(e.Name) }

// A ChangesError is wrapped in the [*Error] for a column that cannot be a label because it changes
// within a recipe.
type ChangesError struct {
	Column string
	All    []string // all columns of the table that change, including those without an error of their own
}

func (e *ChangesError) Error() string { return inputerr.Quote(e.Column) + " changes within a recipe" }
