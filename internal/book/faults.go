package book

import (
	"cmp"
	"errors"
	"slices"

	"kir/internal/fault"
)

// mostErrors is how many errors of a file are reported at once.
const mostErrors = 20

// faults are the errors that were found in a file.
type faults struct {
	all     []*Error
	changes []*Error // behind each is a ChangesError; the table is read on to find all of them
	broken  bool     // a row could not be read at all
}

// add takes down an error.
func (f *faults) add(e *Error) { f.all = append(f.all, e) }

// addChange takes down that a column cannot be a label, since it changes within a recipe.
func (f *faults) addChange(e *Error, column string) {
	e.Err = &ChangesError{Column: column}
	f.changes = append(f.changes, e)
}

// isFull is whether there are enough of them.
func (f *faults) isFull() bool { return len(f.all) >= mostErrors }

// join returns them as one error, by line, nil if there are none.
func (f *faults) join() error {
	var changed []string
	for _, e := range f.changes {
		changed = append(changed, e.Err.(*ChangesError).Column)
	}
	for _, e := range f.changes {
		e.Err.(*ChangesError).All = changed
	}
	f.all = append(f.all, f.changes...)
	slices.SortStableFunc(f.all, func(a, b *Error) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	// A cell that cannot be read is one error.
	f.all = slices.CompactFunc(f.all, func(a, b *Error) bool { return a.Cell != "" && a.Cell == b.Cell })
	more := f.isFull()
	return fault.Join(f.all[:min(len(f.all), mostErrors)], more)
}

// plainError returns the *Error within a fatalError, and other errors as they
// are.
func plainError(err error) error {
	if fatal := (fatalError{}); errors.As(err, &fatal) {
		return fatal.bad
	}
	return err
}
