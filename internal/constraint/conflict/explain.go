package conflict

import (
	"context"
	"fmt"

	"kir/internal/constraint"
	"kir/rule"
)

// Explain returns nil if some composition keeps all rules and has a number of used ingredients that is
// asked for, or if a conflict cannot be proven. Otherwise it returns a smallest set of conflicting rules,
// the cause, and the smallest changes that resolve it.
//
// A conflict is always proven if all rules can be counted. It is also proven if there are at most 2²⁰
// compositions of the sizes asked for, in units that all amounts are multiples of. See the package comment
// for the other cases. QuickXplain (Junker 2004) finds a minimal set; then all smaller sets are tried for a
// few seconds. A bound is relaxed as far as needed by a composition that breaks no other rule, or by
// bisection.
//
// Explain returns the errors of [constraint.FromRules] and [count.Reachable], and the context's error.
func Explain(ctx context.Context, s rule.Set) (*Conflict, error) {
	return question{Set: s}.explain(ctx, constraint.MaxCandidates)
}

// explain does the work of Explain. most is the greatest number of compositions to enumerate.
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
	x.addChanges(c, fixes) // the conflict is proven even if there was no time to try changes
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, nil
}

// findConflict returns a smallest set of conflicting rules with its cause, and fixes that remove the cause.
func (x *explainer) findConflict() (*Conflict, []fix) {
	core, law := x.smallestCore()
	c := &Conflict{Rules: core, Law: law, Kind: Other}
	return c, x.describe(c)
}

// describe sets the cause of a conflict, derived from the conflicting rules. If the cause concerns all ingredients
// and all rules show it, too, its figures come from all rules, because those must change.
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

// nameRules returns a cause that only names the rules in conflict.
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
