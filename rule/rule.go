package rule

import (
	"fmt"

	"kir/internal/count"
)

// A Rule is one of [Require], [Exclude], [Amount], [Group], [Need], [Limit], [Ratio],
// [Near] and [If].
type Rule interface {
	// words says the rule.
	words(s *Set) string

	// check says what is wrong with it, among the ingredients and the total of a
	// set.
	check(s *Set) error

	// conditions adds what the rule comes to.
	conditions(c *Conditions)

	// slacks are as Slacks says.
	slacks(parts []Part, total int) []Slack

	// knobs are the ways to loosen the rule, but for dropping it.
	knobs(s *Set) []knob
}

// Slacks returns the figures of a composition of total units, given by its
// parts, that a rule bounds: a group that bounds both has two, how many of its
// ingredients are used and what they add up to. A rule on the amounts of several
// ingredients is represented by the one with the least room. There are none
// where the rule has nothing to say: of amounts, if none of its ingredients is
// used; of what an ingredient needs, if it is not used.
func Slacks(r Rule, parts []Part, total int) []Slack { return r.slacks(parts, total) }

// An Error says what is wrong with a rule by itself: an index out of range, a
// negative number, a least above a greatest. It is a [count.ErrInvalid].
type Error struct {
	Rule int // its index
	Err  error
}

// Error names the rule by its index.
func (e *Error) Error() string { return fmt.Sprintf("rule %d %v", e.Rule, e.Err) }

// Unwrap returns what is wrong, and [count.ErrInvalid].
func (e *Error) Unwrap() []error { return []error{count.ErrInvalid, e.Err} }
