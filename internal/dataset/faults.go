package dataset

import (
	"cmp"
	"errors"
	"slices"

	"kir/internal/inputerr"
	"kir/internal/tablefile"
)

// maxErrors is the maximum number of errors in a file that are reported at once.
const maxErrors = 20

// faults collects the errors of a file while it is read.
type faults struct {
	allErrors        []*Error // the errors, except labelChanges
	labelChanges     []*Error // errors that wrap a [LabelChangeError]; not counted by isFull, so that all such columns are found
	hasUnreadableRow bool     // whether a row could not be parsed at all
}

// add records an error.
func (f *faults) add(e *Error) { f.allErrors = append(f.allErrors, e) }

// addLabelChange records an error that a column cannot be a label because its value changes within
// a recipe.
func (f *faults) addLabelChange(e *Error, column string) {
	e.Err = &LabelChangeError{Column: column}
	f.labelChanges = append(f.labelChanges, withFixes(e, rowStage, roleFix(column, IgnoredColumn)))
}

// isFull reports whether maxErrors errors have been recorded, so that reading can stop.
func (f *faults) isFull() bool { return len(f.allErrors) >= maxErrors }

// join returns the first maxErrors errors as one error, in the order of lines and columns. It
// returns nil if there are none.
func (f *faults) join() error {
	var changes []*LabelChangeError
	var changed []string
	for _, e := range f.labelChanges {
		change := (*LabelChangeError)(nil)
		errors.As(e.Err, &change)
		changes, changed = append(changes, change), append(changed, change.Column)
	}
	for _, change := range changes {
		change.AllColumns = changed
	}
	f.allErrors = append(f.allErrors, f.labelChanges...)
	slices.SortStableFunc(f.allErrors, func(a, b *Error) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	// An unreadable cell is reported once.
	f.allErrors = slices.CompactFunc(f.allErrors, func(a, b *Error) bool { return a.Cell != "" && a.Cell == b.Cell })
	more := f.isFull()
	return inputerr.Join(f.allErrors[:min(len(f.allErrors), maxErrors)], more)
}

// unwrapFatal returns the [*Error] within a fatalError. It returns any other error unchanged.
func unwrapFatal(err error) error {
	if fatal := (tablefile.FatalError{}); errors.As(err, &fatal) {
		return fatal.Err
	}
	return err
}
