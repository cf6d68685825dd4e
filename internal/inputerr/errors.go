package inputerr

import (
	"errors"
	"fmt"
	"strings"
)

// An Errors has several faults of one input, in the order of their places.
type Errors struct {
	All []*Error

	// MayHaveMore says whether the input may have more faults that were not looked for.
	MayHaveMore bool
}

// Join returns nil for no errors, a single error as it is, and otherwise an [*Errors]. The
// parameter more says whether the input may have more faults. If more is true, a single error
// becomes an [*Errors], too.
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

// All returns the input errors in err: all errors of an [*Errors], a single [*Error], or none if
// err is not about an input.
func All(err error) []*Error {
	if several := (*Errors)(nil); errors.As(err, &several) {
		return several.All
	}
	if single := (*Error)(nil); errors.As(err, &single) {
		return []*Error{single}
	}
	return nil
}
