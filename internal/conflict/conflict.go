package conflict

import (
	"slices"

	"kir/rule"
)

// A Conflict says why no composition keeps all rules of a [rule.Set].
type Conflict struct {
	// Rules are the indexes of rules that cannot hold together, while any fewer of
	// them are not shown to. There is no smaller set, unless there are so many
	// rules, or compositions, that it would take long to look.
	Rules []int

	// Law says that the rules alone can hold, but not with the numbers of used
	// ingredients that are asked for.
	Law bool

	// Kind, Ingredients, Sum and Limit give the cause where it is one of a few
	// common ones: Sum is the number that does not fit, Limit what it would have
	// to fit, Ingredients those it is about.
	Kind        Kind
	Ingredients []int
	Sum, Limit  int

	// Cause is a sentence without its full stop.
	Cause string

	// Changes are small changes of which each by itself makes compositions
	// possible: it was applied, and a composition that keeps all rules shown to
	// be there. There are none where none was found.
	Changes []Change
}

// Kind is a common cause of a conflict.
type Kind string

// The kinds of conflict. Other is one for which there is no better sentence than
// the names of the rules.
const (
	Other       Kind = "other"
	Unusable    Kind = "unusable"     // an ingredient is required and cannot be used, or none can
	MinimaAbove Kind = "minima above" // least amounts sum to more than the total
	MaximaBelow Kind = "maxima below" // greatest amounts sum to less than the total
	Steps       Kind = "steps"        // no sum of multiples makes the total
	GroupUsed   Kind = "group used"   // a group's used count does not fit its members
	GroupTotal  Kind = "group total"  // a group's total does not fit its members
	UsedCount   Kind = "used count"   // how many are used does not fit what rules require or allow
)

// Error returns the cause and what to do about it.
func (c *Conflict) Error() string {
	if len(c.Changes) == 0 {
		return c.Cause
	}
	return c.Cause + ": " + c.FixText()
}

// FixText joins the changes as "a, b or c".
func (c *Conflict) FixText() string {
	texts := make([]string, len(c.Changes))
	for i, change := range c.Changes {
		texts[i] = change.Text
	}
	return orList(texts)
}

// A Change is something that can be done about a conflict.
type Change struct {
	// Rule is the rule to change, -1 if there are several or none.
	Rule int

	// By is by how much to change a bound, in units or ingredients; 0 if it is to
	// be dropped, and of limits.
	By int

	// Text says it, like "raise the max of Gin from 20 to 35".
	Text string

	apply func(*question)
}

// Apply returns a set with the change made. A rule that is dropped becomes nil. What no
// rule says, as least amounts that are lowered together, is not in it.
func (c Change) Apply(s rule.Set) rule.Set { return c.applyTo(question{Set: s}).Set }

// applyTo returns a question with the change made.
func (c Change) applyTo(s question) question {
	s.Rules = slices.Clone(s.Rules)
	c.apply(&s)
	return s
}
