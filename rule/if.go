package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An If is a rule with a condition. The rule Then must hold only if at least one ingredient of Used is used and
// no ingredient of Unused is used. Either list, but not both, may be empty; it is then ignored. Then may itself
// be an If.
type If struct {
	Used, Unused []int
	Then         Rule
}

func (r If) describe(s *Set) string {
	var when []string
	if len(r.Used) > 0 {
		when = append(when, s.joinNames(r.Used)+" used")
	}
	if len(r.Unused) > 0 {
		when = append(when, s.joinNames(r.Unused)+" unused")
	}
	return "if " + strings.Join(when, " and ") + " then " + r.Then.describe(s)
}

func (r If) check(s *Set) error {
	switch {
	case r.Then == nil:
		return errors.New("has nothing behind its condition")
	case len(r.Used)+len(r.Unused) == 0:
		return errors.New("has no condition")
	}
	if err := s.checkIngredients(slices.Concat(r.Used, r.Unused)...); err != nil {
		return err
	}
	if err := r.Then.check(s); err != nil {
		return fmt.Errorf("has behind its condition what %w", err)
	}
	return nil
}
