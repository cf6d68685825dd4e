package dataset

import (
	"cmp"
	"errors"
	"slices"

	"kir/internal/inputerr"
)

// mostErrors bounds the errors of a file that are reported at once.
const mostErrors = 20

// faults collects the errors of a file.
type faults struct {
	all     []*Error
	changes []*Error // errors that wrap a ChangesError; reading goes on to find all of them
	broken  bool     // a row could not be read at all
}

// add records an error.
func (f *faults) add(e *Error) { f.all = append(f.all, e) }

// addChange records that a column cannot be a label because it changes within a recipe.
func (f *faults) addChange(e *Error, column string) {
	e.Err = &ChangesError{Column: column}
	f.changes = append(f.changes, e)
}

// isFull reports whether no more errors are needed.
func (f *faults) isFull() bool { return len(f.all) >= mostErrors }

// join returns the errors as one, by line, or nil if there are none.
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
	// An unreadable cell is reported once.
	f.all = slices.CompactFunc(f.all, func(a, b *Error) bool { return a.Cell != "" && a.Cell == b.Cell })
	more := f.isFull()
	return inputerr.Join(f.all[:min(len(f.all), mostErrors)], more)
}

// plainError returns the *Error within a fatalError, and other errors as they
// are.
func plainError(err error) error {
	if fatal := (fatalError{}); errors.As(err, &fatal) {
		return fatal.err
	}
	return err
}
