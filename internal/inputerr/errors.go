package inputerr

import (
	"errors"
	"fmt"
	"strings"
)

// Errors are several things wrong in one input, in the order of their places.
type Errors struct {
	All []*Error

	// More is whether there may be more that was not looked for.
	More bool
}

// Join returns nil for no errors, the error itself for one, and else [*Errors].
// more says whether there may be more.
func Join(all []*Error, more bool) error {
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && !more:
		return all[0]
	}
	return &Errors{All: all, More: more}
}

// Error returns a line for each.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, one := range e.All {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if e.More {
		fmt.Fprintf(&b, "\nthese are the first %d: there may be more", len(e.All))
	}
	return b.String()
}

// Unwrap returns the errors.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.All))
	for i, one := range e.All {
		all[i] = one
	}
	return all
}

// All returns what is wrong by an error: the errors of [*Errors], one by itself, or none
// where it is about something else.
func All(err error) []*Error {
	if several := (*Errors)(nil); errors.As(err, &several) {
		return several.All
	}
	if single := (*Error)(nil); errors.As(err, &single) {
		return []*Error{single}
	}
	return nil
}
