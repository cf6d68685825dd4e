package book

import "kir/internal/fault"

// Options say how a book is read. The zero value
// will do for most books.
type Options struct {
	// Labels are columns that are labels; other columns may be labels as well.
	Labels []string

	// LabelsOptional says that Labels need not be columns of this table. Else they must.
	LabelsOptional bool

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
type ChangesError struct {
	Column string
	All    []string // all columns of the table that do, also those without an error of their own
}

func (e *ChangesError) Error() string { return fault.Quote(e.Column) + " changes within a recipe" }
