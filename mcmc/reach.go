package mcmc

import (
	"errors"
	"fmt"
)

// checkLines says, as an error that wraps [ErrReducible], why a kernel that
// moves along lines cannot reach all that the target allows.
//
// A gap in the law of n cuts the support in two. So may a property that is 0
// somewhere; that is looked for in spaces small enough to enumerate, and
// cannot be told in general.
func checkLines(kernel string, t *Target) error {
	if t.space.rules != nil {
		return nil // its independent moves connect everything
	}
	of := t.islands()
	parts, a, b, err := of.parts, of.a, of.b, of.err
	if err != nil {
		return kernelError(kernel, err)
	}
	n, gap := t.law.Gap()
	switch {
	case parts == 1:
		return nil // whatever lies beyond a gap is forbidden
	case gap:
		return fmt.Errorf("%s: %w: it changes the number of ingredients by at most 1 and the sparsity law has no mass at n = %d, between %d and %d; use balanced", kernel, ErrReducible, n, t.law.lo, t.law.hi)
	case parts > 1:
		return fmt.Errorf("%s: %w: it changes two ingredients at a time, and the properties that are 0 cut what is allowed into %d parts, one with %v and one with %v; use balanced", kernel, ErrReducible, parts, a, b)
	}
	return nil
}

// ErrReducible is returned for a target whose support a kernel cannot walk
// all over: its draws would not follow the target, however long it ran.
var ErrReducible = errors.New("the chain cannot reach everything that the target allows")
