package inputerr

import (
	"errors"
	"fmt"
	"strings"
)

// An Errors has several faults of one input, in the order in which they occur in the input.
type Errors struct {
	All []*Error

	// MayHaveMore says whether reading stopped early, so that the input may have more faults.
	MayHaveMore bool
}

// Join returns nil if all is empty, the error itself if there is only one, and otherwise an
// [*Errors]. The parameter more says whether the input may have more faults. If more is true, even
// a single error becomes an [*Errors].
func Join(all []*Error, more bool) error {
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && !more:
		return all[0]
	}
	return &Errors{All: all, MayHaveMore: more}
}

// Error returns the messages of all errors, one per line.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, one := range e.All {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if e.MayHaveMore {
		fmt.Fprintf(&b, "\nthese are the first %d: there may be more", len(e.All))
	}
	return b.String()
}

// Unwrap returns all errors.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.All))
	for i, one := range e.All {
		all[i] = one
	}
	return all
}

// All returns the faults of an input that err reports: all errors of an [*Errors], or a single
// [*Error]. It returns nil if err contains neither.
func All(err error) []*Error {
	if several := (*Errors)(nil); errors.As(err, &several) {
		return several.All
	}
	if single := (*Error)(nil); errors.As(err, &single) {
		return []*Error{single}
	}
	return nil
}
