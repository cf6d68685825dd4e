package conflict

import (
	"slices"

	"kir/internal/number"
	"kir/rule"
)

// A Conflict explains why no composition keeps all rules of a [rule.Set].
type Conflict struct {
	// Rules are the indices of rules that cannot all hold. No proper subset is known to conflict. The set is the
	// smallest set of conflicting rules, unless there are too many rules or compositions to search.
	Rules []int

	// InvolvesUsedCounts tells whether the permitted numbers of used ingredients are part of the conflict. If so,
	// the rules can all hold together, but not with the permitted numbers of used ingredients.
	InvolvesUsedCounts bool

	// Kind, Ingredients, Sum and Limit describe a common cause. Kind is the type of the cause, Sum is a number
	// that violates a limit, Limit is the violated limit, and Ingredients are the indices of the ingredients
	// concerned.
	Kind        Kind
	Ingredients []int
	Sum, Limit  int

	// Cause is the cause as a sentence without its full stop.
	Cause string

	// Changes are small changes of the rules, each of which alone is proven to resolve the conflict. The slice
	// is empty if no change was found.
	Changes []Change
}

// A Kind is a type of cause of a conflict, such as [MinimaAbove].
type Kind string

// These constants are the types of causes of a conflict. Other stands for a cause that only names the rules in
// conflict.
const (
	Other       Kind = "other"
	Unusable    Kind = "unusable"     // an ingredient is required but cannot be used, or no ingredient can be used
	MinimaAbove Kind = "minima above" // the least amounts add up to more than the total
	MaximaBelow Kind = "maxima below" // the greatest amounts add up to less than the total
	Steps       Kind = "steps"        // all amounts are multiples of a number that does not divide the total
	GroupUsed   Kind = "group used"   // the members of a group cannot satisfy the group's limit of used members
	GroupTotal  Kind = "group total"  // the members of a group cannot satisfy the group's limit of units
	UsedCount   Kind = "used count"   // the permitted numbers of used ingredients contradict the numbers that other rules require or allow
)

// Error returns the cause, followed by the changes that resolve the conflict.
func (c *Conflict) Error() string {
	if len(c.Changes) == 0 {
		return c.Cause
	}
	return c.Cause + ": " + c.FixText()
}

// FixText joins the texts of the changes as "a, b or c".
func (c *Conflict) FixText() string {
	texts := make([]string, len(c.Changes))
	for i, change := range c.Changes {
		texts[i] = change.Text
	}
	return number.JoinOr(texts)
}

// A Change is a change of the rules after which some composition keeps all rules.
type Change struct {
	// Rule is the index of the changed rule, or -1 if the change concerns several rules or no rule.
	Rule int

	// BoundChange is the number by which the change moves a bound: a number of units, or a number of ingredients.
	// BoundChange is 0 for a dropped rule and for a change of a bound that is a decimal number.
	BoundChange int

	// Text describes the change, such as "raise the max of Gin from 20 to 35".
	Text string

	apply func(*question) // applies the change to a set of rules; the slice of rules must be a copy
}

// Apply returns the set of rules s after the change. A dropped rule is nil in the returned set. Apply leaves out
// changes that rules cannot express, such as lowering several least amounts together.
func (c Change) Apply(s rule.Set) rule.Set { return c.applyTo(question{Set: s}).Set }

// applyTo returns a copy of the question s in which the change is made.
func (c Change) applyTo(s question) question {
	s.Rules = slices.Clone(s.Rules)
	c.apply(&s)
	return s
}
