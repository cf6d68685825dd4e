package conflict

import (
	"context"
	"fmt"

	"kir/internal/condition"
	"kir/rule"
)

// Explain returns nil if some composition keeps all rules and uses a number of
// ingredients that is asked for, or if it cannot be shown that none does.
// Otherwise it returns a smallest set of rules that cannot hold together, the
// cause, and the smallest changes that would do.
//
// That none does is always shown where all rules can be counted, and where there
// are at most 2²⁰ compositions of the asked sizes in units that all amounts are
// multiples of; see the package's comment. A minimal set is found by QuickXplain
// (Junker 2004); then all smaller sets are tried, as far as that takes seconds.
// Bounds are relaxed as far as a composition needs that breaks no other rule, or
// by bisection.
//
// It fails as [condition.FromRules] and [count.Reachable] do, or with the context's error.
func Explain(ctx context.Context, s rule.Set) (*Conflict, error) {
	return question{Set: s}.explain(ctx, condition.MaxCandidates)
}

// explain looks at compositions one by one where there are at most so many.
func (s question) explain(ctx context.Context, most float64) (*Conflict, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	x := &explainer{asker: asker{ctx: ctx, maxCandidates: most}, set: s}
	if x.ask(s, false) != unsatisfiable {
		return nil, x.err
	}
	c, fixes := x.findConflict()
	if x.err != nil {
		return nil, x.err
	}
	x.addChanges(c, fixes) // the conflict is one, whatever could not be tried against it
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, nil
}

// findConflict finds a smallest set of rules that cannot hold, and its cause.
func (x *explainer) findConflict() (*Conflict, []fix) {
	core, law := x.smallestCore()
	c := &Conflict{Rules: core, Law: law, Kind: Other}
	return c, x.describe(c)
}

// describe fills in the cause of a conflict: that of its rules alone. Sums over
// all ingredients are given in the numbers of all rules, which is what has to
// change, if these show the same cause.
func (x *explainer) describe(c *Conflict) (fixes []fix) {
	found := findCause(x.subset(c.Rules, c.Law))
	if found == nil {
		c.Cause = x.nameRules(c)
		return nil
	}
	switch found.kind {
	case MinimaAbove, MaximaBelow, UsedCount:
		whole := x.set
		if !c.Law {
			whole.Used = nil
		}
		if all := findCause(whole); all != nil && all.kind == found.kind {
			found = all
		}
	}
	c.Kind, c.Ingredients, c.Sum, c.Limit, c.Cause = found.kind, found.ingredients, found.sum, found.limit, found.text
	return found.fixes
}

// nameRules says no more than which rules are in conflict.
func (x *explainer) nameRules(c *Conflict) string {
	names := make([]string, len(c.Rules))
	for t, k := range c.Rules {
		names[t] = x.set.TextOf(k)
	}
	if c.Law {
		names = append(names, "the numbers of used ingredients asked for")
	}
	if len(names) == 1 {
		return fmt.Sprintf("no composition of %d units keeps %s", x.set.Total, names[0])
	}
	return fmt.Sprintf("no composition of %d units keeps %s together", x.set.Total, andList(names))
}
