package rule

import "fmt"

// A Rule is what compositions have to keep: a [Group] or a [Ratio], say.
type Rule interface {
	// words says the rule.
	words(s *Set) string

	// check says what is wrong with it, among the ingredients and the total of a
	// set.
	check(s *Set) error
}

// An Error says what is wrong with a rule by itself: an index out of range, a
// negative number, a least above a greatest.
type Error struct {
	Rule int // its index
	Err  error
}

// Error names the rule by its index.
func (e *Error) Error() string { return fmt.Sprintf("rule %d %v", e.Rule, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// A Part is one used ingredient of a composition: which, and how many units.
type Part struct {
	Ingredient int
	Amount     int
}

// A Range is the whole numbers from Min to Max, both included.
type Range struct{ Min, Max int }
