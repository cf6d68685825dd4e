package conflict

import (
	"slices"

	"kir/internal/number"
	"kir/rule"
)

// A Conflict explains why no composition keeps all rules of a [rule.Set].
type Conflict struct {
	// Rules are the indexes of rules that cannot all hold. No proper subset of them was shown to conflict.
	// It is the smallest such set, unless the search would take too long because there are too many rules
	// or compositions.
	Rules []int

	// Law is true if the rules can all hold, but not with the numbers of used ingredients that are asked
	// for.
	Law bool

	// Kind, Ingredients, Sum and Limit describe the cause if it is a common one. Sum is the number that
	// does not fit, Limit the number that it should fit, and Ingredients those that it concerns.
	Kind        Kind
	Ingredients []int
	Sum, Limit  int

	// Cause is a sentence without its full stop.
	Cause string

	// Changes are small changes. Each alone is proven to resolve the conflict: after it, some composition
	// keeps all rules. Changes is empty if none was found.
	Changes []Change
}

// Kind is a common cause of a conflict.
type Kind string

// The kinds of conflict. Other means that the cause only names the rules.
const (
	Other       Kind = "other"
	Unusable    Kind = "unusable"     // an ingredient is required and cannot be used, or no ingredient can be used
	MinimaAbove Kind = "minima above" // least amounts add up to more than the total
	MaximaBelow Kind = "maxima below" // greatest amounts add up to less than the total
	Steps       Kind = "steps"        // no sum of multiples equals the total
	GroupUsed   Kind = "group used"   // the members cannot have the used count that a group must have
	GroupTotal  Kind = "group total"  // the members cannot have the total that a group must have
	UsedCount   Kind = "used count"   // the number of used ingredients contradicts what rules require or allow
)

// Error returns the cause and the changes that resolve it.
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
	return number.JoinOr(texts)
}

// A Change is a change of the rules that resolves a conflict.
type Change struct {
	// Rule is the index of the changed rule, or -1 if the change concerns several rules or none.
	Rule int

	// By is the change of a bound, in units or ingredients. It is 0 for a dropped rule and for limits.
	By int

	// Text describes the change, such as "raise the max of Gin from 20 to 35".
	Text string

	apply func(*question)
}

// Apply returns a set with the change made. A dropped rule becomes nil. Changes that no rule can express,
// such as lowering several least amounts together, are not made.
func (c Change) Apply(s rule.Set) rule.Set { return c.applyTo(question{Set: s}).Set }

// applyTo returns a question with the change made.
func (c Change) applyTo(s question) question {
	s.Rules = slices.Clone(s.Rules)
	c.apply(&s)
	return s
}
