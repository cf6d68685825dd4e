package conflict

import (
	"slices"

	"kir/internal/number"
	"kir/rule"
)

// A Conflict explains why no composition keeps all rules of a [rule.Set].
type Conflict struct {
	// Rules are the indices of rules that cannot all hold. No proper subset is known to conflict. It is the smallest
	// such set, unless there are too many rules or compositions to search.
	Rules []int

	// Law is true if the rules can all hold, but not with the permitted numbers of used ingredients.
	Law bool

	// Kind, Ingredients, Sum and Limit describe a common cause. Sum is the number that violates a limit, Limit is
	// that limit, and Ingredients are the ingredients concerned.
	Kind        Kind
	Ingredients []int
	Sum, Limit  int

	// Cause is the cause as a sentence without its full stop.
	Cause string

	// Changes are small changes of the rules, each of which alone is proven to resolve the conflict. It is empty if
	// none was found.
	Changes []Change
}

// A Kind is a type of common cause of a conflict.
type Kind string

// These are the kinds of causes. With Other the cause only names the rules.
const (
	Other       Kind = "other"
	Unusable    Kind = "unusable"     // an ingredient is required and cannot be used, or no ingredient can be used
	MinimaAbove Kind = "minima above" // least amounts add up to more than the total
	MaximaBelow Kind = "maxima below" // greatest amounts add up to less than the total
	Steps       Kind = "steps"        // the total is no sum of multiples of the steps
	GroupUsed   Kind = "group used"   // a group's members cannot satisfy its limit of used members
	GroupTotal  Kind = "group total"  // a group's members cannot satisfy its limit of units
	UsedCount   Kind = "used count"   // the permitted numbers of ingredients contradict what other rules require or allow
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

	// By is the change of a bound, in units or in numbers of ingredients. It is 0 for a dropped rule and for a change
	// of a limit.
	By int

	// Text describes the change, such as "raise the max of Gin from 20 to 35".
	Text string

	apply func(*question)
}

// Apply returns the set of rules after the change. A dropped rule is nil. It makes no changes that rules cannot
// express, such as lowering several least amounts together.
func (c Change) Apply(s rule.Set) rule.Set { return c.applyTo(question{Set: s}).Set }

// applyTo returns the question after the change.
func (c Change) applyTo(s question) question {
	s.Rules = slices.Clone(s.Rules)
	c.apply(&s)
	return s
}
