package conflict

import (
	"context"
	"fmt"

	"kir/internal/constraint"
	"kir/rule"
)

// Explain returns nil if some composition keeps all rules with a permitted number of used ingredients, or if a
// conflict cannot be proven. Otherwise Explain returns a smallest set of conflicting rules, the cause, and the
// smallest changes that resolve the conflict.
//
// A conflict is always proven if all rules can be counted. A conflict is also proven if there are few enough
// compositions to enumerate: at most 2²⁰ compositions with permitted numbers of used ingredients, counted in the
// greatest unit of which all amounts are multiples. See the package comment for the other cases. The algorithm
// QuickXplain (Junker 2004) finds a minimal set of conflicting rules; then all smaller sets are tried for a few
// seconds. Bisection finds the least change of a bound that resolves the conflict.
//
// Explain returns the errors of [constraint.FromRules] and [count.ReachableUsedCounts], and the error of the context.
func Explain(ctx context.Context, s rule.Set) (*Conflict, error) {
	return question{Set: s}.explain(ctx, constraint.MaxCandidates)
}

// explain does the work of Explain. The parameter maxCandidates is the maximum number of compositions to
// enumerate.
func (s question) explain(ctx context.Context, maxCandidates float64) (*Conflict, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	x := &explainer{asker: asker{ctx: ctx, maxCandidates: maxCandidates}, question: s}
	if x.ask(s, false) != unsatisfiable {
		return nil, x.firstError
	}
	c, fixes := x.findConflict()
	if x.firstError != nil {
		return nil, x.firstError
	}
	x.addChanges(c, fixes) // the conflict is proven even if there was no time to try changes
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, nil
}

// findConflict returns a smallest set of conflicting rules with the cause, and fixes that remove the cause.
func (x *explainer) findConflict() (*Conflict, []fix) {
	core, law := x.smallestConflict()
	c := &Conflict{Rules: core, InvolvesUsedCounts: law, Kind: Other}
	return c, x.describeCause(c)
}

// describeCause sets the cause of the conflict c and returns the fixes that remove the cause. The cause is
// derived from the conflicting rules. If all rules together lead to a cause of the same kind, and that cause
// concerns all ingredients, the cause from all rules is used instead.
func (x *explainer) describeCause(c *Conflict) (fixes []fix) {
	found := findCause(x.subsetQuestion(c.Rules, c.InvolvesUsedCounts))
	if found == nil {
		c.Cause = x.nameRules(c)
		return nil
	}
	switch found.kind {
	case MinimaAbove, MaximaBelow, UsedCount:
		whole := x.question
		if !c.InvolvesUsedCounts {
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
		names[t] = x.question.TextOf(k)
	}
	if c.InvolvesUsedCounts {
		names = append(names, "the numbers of used ingredients asked for")
	}
	if len(names) == 1 {
		return fmt.Sprintf("no recipe of %d units meets %s", x.question.Total, names[0])
	}
	return fmt.Sprintf("no recipe of %d units meets %s together", x.question.Total, joinWithAnd(names))
}
