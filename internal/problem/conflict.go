package problem

import (
	"kir/internal/conflict"
	"kir/rule"
)

// A ConflictError says that the rules cannot all hold, and where they stand, so that
// a way out can be written into the problem file.
type ConflictError struct {
	*conflict.Conflict
	Set   rule.Set
	Place []int  // of each rule of the set: its place among the constraints
	Alone []bool // and whether it is all that stands there
}

// Unwrap returns the conflict.
func (e *ConflictError) Unwrap() error { return e.Conflict }

// conflictOf returns a conflict with the places of its rules, which are those of a
// list.
func conflictOf(c *conflict.Conflict, s *ruleSet, rules []Rule) *ConflictError {
	e := &ConflictError{Conflict: c, Set: s.Set}
	for _, r := range s.of {
		for k := range rules {
			if r == &rules[k] {
				e.Place = append(e.Place, k)
				e.Alone = append(e.Alone, len(r.Rules) == 1)
			}
		}
	}
	return e
}
