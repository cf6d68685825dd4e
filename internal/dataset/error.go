package dataset

import (
	"errors"

	"kir/internal/inputerr"
)

// An Error is a fault in a file: the position, what is wrong, and what to write instead. Failures
// of the machine, such as an unreadable disk, are errors of other types.
type Error = inputerr.Error

// ErrNoAmounts is wrapped in the [*Error] for a table whose header has no columns that a table of recipes has.
var ErrNoAmounts = errors.New("the header has no columns of amounts")

// withoutAmounts returns the error e, wrapping [ErrNoAmounts].
func withoutAmounts(e *Error) *Error {
	e.Err = ErrNoAmounts
	return e
}
