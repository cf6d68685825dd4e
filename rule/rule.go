package rule

import "fmt"

// A Rule is a condition on compositions, such as a [Group] or a [Ratio].
type Rule interface {
	// describe returns a description of the rule in words, with the names of the ingredients.
	describe(s *Set) string

	// check returns an error if the rule itself is invalid, given the ingredients and the total of the set.
	check(s *Set) error
}

// An Error reports a rule that is invalid by itself. Examples are an index out of range, a negative number, and
// a minimum above the maximum.
type Error struct {
	Rule int // index in [Set.Rules] of the invalid rule
	Err  error
}

// Error returns the description of the fault with the index of the rule.
func (e *Error) Error() string { return fmt.Sprintf("rule %d %v", e.Rule, e.Err) }

// Unwrap returns the description of the fault without the index of the rule.
func (e *Error) Unwrap() error { return e.Err }

// A Part is a used ingredient of a composition, with its amount in units.
type Part struct {
	Ingredient int
	Amount     int
}

// A Range is the set of whole numbers from Min to Max, both included.
type Range struct{ Min, Max int }
