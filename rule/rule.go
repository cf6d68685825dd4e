package rule

import "fmt"

// A Rule is a condition on compositions, such as a [Group] or a [Ratio].
type Rule interface {
	// describe describes the rule in words, with the names of the ingredients of the set.
	describe(s *Set) string

	// check returns an error if the rule is invalid for the ingredients and the total of the set.
	check(s *Set) error
}

// An Error describes a rule that is invalid by itself, for example because of an index out of range, a negative
// number, or a minimum above its maximum.
type Error struct {
	Rule int // index of the rule in its set
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

// A Range is the whole numbers from Min to Max, both included.
type Range struct{ Min, Max int }
