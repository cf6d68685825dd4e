package dataset

import (
	"kir/internal/inputerr"
	"kir/internal/measure"
)

// Options say how a book is read. The zero value suits most books.
type Options struct {
	// Labels are the names of columns that are labels. The reader may find further labels.
	Labels []string

	// LabelsOptional allows names in Labels that are not columns of the table. Otherwise such a
	// name is an error.
	LabelsOptional bool

	// Conditions are the labels, among Labels, that a trial sets in addition to its recipe. Rows
	// with the same name of a recipe and different conditions are different trials. The first trial
	// keeps the name, and the values of the conditions are appended to the names of the later
	// trials, as in "M1 at age 28, oven fan".
	Conditions []string

	// Units are the units that the book may use. If nil, they are [DefaultUnits].
	Units *measure.Units

	// Ingredients are the only ingredients that the book may use. The book keeps their order. If
	// nil, the book may use any ingredients.
	Ingredients *Ingredients

	// Layout says how to read the table where the reader should not guess.
	Layout
}

// A MissingColumnError is wrapped in the [*Error] for a column that [Options] names and the table does
// not have. The caller may know a better position for the error: the place where the column was
// named.
type MissingColumnError struct{ Name string }

func (e *MissingColumnError) Error() string { return "no label " + inputerr.Quote(e.Name) }

// A LabelChangeError is wrapped in the [*Error] for a column that cannot be a label because its value
// changes within a recipe.
type LabelChangeError struct {
	Column     string   // name of the column
	AllColumns []string // names of all such columns of the table, including those whose errors are not reported
}

func (e *LabelChangeError) Error() string {
	return inputerr.Quote(e.Column) + " changes within a recipe"
}
