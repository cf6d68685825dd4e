package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An If makes another rule hold where at least one of some ingredients is used,
// and none of others is. One of the two may be left out. Any rule may stand
// behind it, another If among them.
type If struct {
	Used, Unused []int
	Then         Rule
}

func (r If) words(s *Set) string {
	var when []string
	if len(r.Used) > 0 {
		when = append(when, s.of(r.Used)+" used")
	}
	if len(r.Unused) > 0 {
		when = append(when, s.of(r.Unused)+" unused")
	}
	return "if " + strings.Join(when, " and ") + " then " + r.Then.words(s)
}

func (r If) check(s *Set) error {
	switch {
	case r.Then == nil:
		return errors.New("has nothing behind its condition")
	case len(r.Used)+len(r.Unused) == 0:
		return errors.New("has no condition")
	}
	if err := s.members(slices.Concat(r.Used, r.Unused)...); err != nil {
		return err
	}
	if err := r.Then.check(s); err != nil {
		return fmt.Errorf("has behind its condition what %w", err)
	}
	return nil
}

func (r If) conditions(c *Conditions) {
	write := func() { r.Then.conditions(c) }
	for _, g := range []guard{{of: r.Used}, {of: r.Unused, unused: true}} {
		if len(g.of) > 0 {
			g.of = total(g.of, 1).ingredients()
			inner := write
			write = func() { c.under(g, inner) }
		}
	}
	write()
}

// slacks has nothing to say where the condition does not hold.
func (r If) slacks(parts []Part, total int) []Slack {
	if len(r.Used) > 0 && usedOf(parts, r.Used) == 0 || usedOf(parts, r.Unused) > 0 {
		return nil
	}
	return r.Then.slacks(parts, total)
}

func (r If) knobs(s *Set) []knob {
	knobs := r.Then.knobs(s)
	for k, q := range knobs {
		knobs[k].turn = func(notches int) Rule { r := r; r.Then = q.turn(notches); return r }
	}
	return knobs
}
