package count

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Conflict says why no composition keeps all rules of a [Ruleset].
type Conflict struct {
	// Rules are the indexes of rules that cannot hold together, while any fewer of
	// them can. There is no smaller set, unless there are so many rules that it
	// would take long to look.
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

	// Changes are small changes each of which makes compositions possible. If
	// Partly, they only resolve this conflict and there is another.
	Changes []Change
	Partly  bool
}

// A Change is something that can be done about a conflict.
type Change struct {
	// Rule is the rule to change, -1 if there are several or none.
	Rule int

	// By is by how much to change a bound, 0 if it is to be dropped.
	By int

	// Text says it, like "raise the max of Gin from 20 to 35".
	Text string

	apply func(*Ruleset)
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
	texts := make([]string, len(c.Changes))
	for i, change := range c.Changes {
		texts[i] = change.Text
	}
	out := c.Cause + ": " + orList(texts)
	if c.Partly {
		out += "; other rules are then still in conflict"
	}
	return out
}

// Explain returns nil if some composition keeps all rules and uses a number of
// ingredients that is asked for. Otherwise it returns a smallest set of rules
// that cannot hold together, the cause, and the smallest changes that would do.
//
// It asks again and again whether a part of the rules can hold, which takes the
// dynamic programme of the package with a bit for a number. A minimal set is
// found by QuickXplain (Junker 2004); then all smaller sets are tried, as far as
// that takes seconds. Bounds are relaxed by bisection.
//
// It fails as [Ruleset.Space] and [New] do, or with the context's error.
func (rs Ruleset) Explain(ctx context.Context) (*Conflict, error) {
	x := &explainer{ctx: ctx, wanted: rs.Used}
	if rs.Used != nil {
		rs.Used = slices.DeleteFunc(slices.Clone(rs.Used), func(n int) bool { return n < 1 || n > min(rs.Ingredients, rs.Total) })
		slices.Sort(rs.Used)
	}
	x.rs = rs
	all := make([]int, len(rs.Rules))
	for n := range all {
		all[n] = n
	}
	s, err := rs.Space()
	if err != nil {
		return nil, err
	}
	if _, err := newPlan(s, 1); err != nil {
		return nil, err // among others, that groups overlap
	}
	if x.holds(rs) {
		return nil, x.err
	}
	core, law := x.smallest(all)
	c := &Conflict{Rules: core, Law: law, Kind: Other}
	fixes := x.describe(c)
	x.sure = true
	x.relax(c, fixes)
	if x.err != nil {
		return nil, x.err
	}
	return c, nil
}

// An explainer answers whether rules can hold. After an error all its answers
// are no, and nothing is to be made of them.
type explainer struct {
	ctx    context.Context
	rs     Ruleset
	wanted []int // numbers of used ingredients, also those that cannot be
	err    error

	// Groups that do not overlap may do so once a rule that excludes ingredients
	// is left out. To say that rules cannot hold it is enough to show it without
	// the groups in the way. If sure, that rules can hold is no such guess: then
	// it is denied of rules that overlap.
	sure bool

	// How many questions were asked, and about how many steps they took.
	asked, work float64
}

// holds reports whether some composition keeps a ruleset.
func (x *explainer) holds(rs Ruleset) bool {
	if x.err != nil {
		return false
	}
	s, err := rs.Space()
	if err != nil {
		x.err = err
		return false
	}
	return slices.Contains(x.reach(s, rs.Used, 0), true)
}

// reach returns for each n whether a space has compositions that use n
// ingredients: for the n of a list, or up to most, or for all if both are nil
// or zero.
func (x *explainer) reach(s Space, used []int, most int) []bool {
	if x.err != nil {
		return nil
	}
	x.asked++
	if kept, rest := s.Disjoint(); len(rest) > 0 {
		if x.sure {
			return nil
		}
		groups := make([]Group, len(kept))
		for t, g := range kept {
			groups[t] = s.Groups[g]
		}
		s.Groups = groups
	}
	all := min(len(s.Ingredients), s.Total)
	if most == 0 || most > all {
		most = all
	}
	if used != nil {
		most = 0
		for _, n := range used {
			most = max(most, n)
		}
	}
	plan, err := newPlan(s, most)
	x.work += float64(100 * len(s.Ingredients))
	if err == nil {
		if closed := closedForm(plan); closed != nil {
			can := make([]bool, most+1)
			for n := range can {
				_, _, can[n] = closed.shape(n)
			}
			return keepOnly(can, used)
		}
		x.work += plan.root.cost().steps * stepsPerBit
		var can []bool
		if can, err = reachable(x.ctx, plan); err == nil {
			return keepOnly(can, used)
		}
	}
	x.err = err
	return nil
}

// keepOnly makes false all but the given indexes, if there are any.
func keepOnly(can []bool, used []int) []bool {
	if used == nil {
		return can
	}
	out := make([]bool, len(can))
	for _, n := range used {
		out[n] = can[n]
	}
	return out
}

// only returns the ruleset of some of the rules, with the law or without.
func (x *explainer) only(rules []int, law bool) Ruleset {
	rs := x.rs
	rs.Rules = make([]Rule, len(rules))
	for t, n := range rules {
		rs.Rules[t] = x.rs.Rules[n]
	}
	if !law {
		rs.Used = nil
	}
	return rs
}

// searchBudget is how much work looking for a smaller conflict may take, in steps
// of some 10⁻⁹ s.
const searchBudget = 3e9

// smallest returns a minimal set of rules that cannot hold together, of the
// smallest size if that can be found out, and whether the law is part of it.
func (x *explainer) smallest(all []int) (core []int, law bool) {
	law = x.rs.Used != nil
	if !x.holds(x.only(nil, law)) {
		return nil, law
	}
	core = x.quick(nil, false, all, law)
	for size := 1; size < len(core); size++ {
		sets := 1.0
		for j := range size {
			sets *= float64(len(all)-j) / float64(j+1)
		}
		if sets*x.work/x.asked > searchBudget {
			break
		}
		if found := x.ofSize(all, size, nil, law); found != nil {
			core = found
		}
	}
	slices.Sort(core)
	// Rules that cannot hold without the law cannot with it. So a set that is
	// smallest with it is so without it too, and the law, without which there are
	// more n to look at, is asked about once.
	return core, law && x.holds(x.only(core, false))
}

// quick returns a minimal subset of rules that cannot hold together with given
// ones. changed says that given ones were added since they were last asked for.
func (x *explainer) quick(given []int, changed bool, rules []int, law bool) []int {
	if changed && !x.holds(x.only(given, law)) {
		return nil
	}
	if len(rules) <= 1 {
		return slices.Clone(rules)
	}
	a, b := rules[:len(rules)/2], rules[len(rules)/2:]
	fromB := x.quick(slices.Concat(given, a), true, b, law)
	fromA := x.quick(slices.Concat(given, fromB), len(fromB) > 0, a, law)
	return slices.Concat(fromA, fromB)
}

// ofSize returns a set of rules of a size that cannot hold together, nil if
// there is none.
func (x *explainer) ofSize(rules []int, size int, chosen []int, law bool) []int {
	if size == 0 {
		if x.err == nil && !x.holds(x.only(chosen, law)) && x.err == nil {
			return slices.Clone(chosen)
		}
		return nil
	}
	for t := 0; t+size <= len(rules); t++ {
		if found := x.ofSize(rules[t+1:], size-1, append(chosen, rules[t]), law); found != nil {
			return found
		}
	}
	return nil
}

// orList joins texts as "a, b or c".
func orList(texts []string) string { return list(texts, " or ") }

// andList joins texts as "a, b and c", of many only the first few.
func andList(texts []string) string {
	const many = 8
	if len(texts) > many {
		texts = append(slices.Clone(texts[:many-1]), fmt.Sprintf("%d more", len(texts)-many+1))
	}
	return list(texts, " and ")
}

func list(texts []string, last string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + last + texts[len(texts)-1]
}
