package rule

import (
	"context"
	"fmt"
	"slices"
)

// A Conflict says why no composition keeps all rules of a [Set].
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
	return c.Cause + ": " + c.WaysOut()
}

// WaysOut joins the changes as "a, b or c".
func (c *Conflict) WaysOut() string {
	texts := make([]string, len(c.Changes))
	for i, change := range c.Changes {
		texts[i] = change.Text
	}
	return orList(texts)
}

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
// It fails as [Set.Conditions] and [count.Reachable] do, or with the context's error.
func (s Set) Explain(ctx context.Context) (*Conflict, error) {
	return s.explain(ctx, maxCandidates)
}

// explain looks at compositions one by one where there are at most so many.
func (s Set) explain(ctx context.Context, most float64) (*Conflict, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	x := &explainer{asker: asker{ctx: ctx, most: most}, set: s}
	if x.ask(s, false) != never {
		return nil, x.err
	}
	c, fixes := x.conflict()
	if x.err == nil {
		x.relax(c, fixes)
	}
	if x.err != nil {
		return nil, x.err
	}
	return c, nil
}

// An explainer finds out why a set cannot hold.
type explainer struct {
	asker
	set Set

	wanted, every struct { // of the sizes that are asked for, and of all
		masks  masks
		looked bool
	}
}

// conflict finds a smallest set of rules that cannot hold, and its cause.
func (x *explainer) conflict() (*Conflict, []fix) {
	core, law := x.smallest()
	c := &Conflict{Rules: core, Law: law, Kind: Other}
	return c, x.describe(c)
}

// masks returns those of the sizes that are asked for, or of all; nil if rules
// are counted or there is too much to look at.
func (x *explainer) masks(law bool) masks {
	kept := &x.every
	if law {
		kept = &x.wanted
	}
	if !kept.looked {
		kept.looked = true
		s := x.set
		if !law {
			s.Used = nil
		}
		c, err := s.Conditions()
		if err != nil {
			x.err = err
			return nil
		}
		if _, all := c.Countable(); !all {
			kept.masks = masksOf(s, x.most)
		}
	}
	return kept.masks
}

// can reports whether some of the rules can hold, as far as it is not shown that
// they cannot.
func (x *explainer) can(rules []int, law bool) bool {
	if m := x.masks(law); m != nil {
		return m.hold(rules)
	}
	return x.ask(x.part(rules, law), false) != never && x.err == nil
}

// part returns the set of some of the rules, with the law or without.
func (x *explainer) part(rules []int, law bool) Set {
	s := x.set.only(rules)
	if !law {
		s.Used = nil
	}
	return s
}

// searchBudget is how much work looking for a smaller conflict may take, in steps
// of some 10⁻⁹ s.
const searchBudget = 3e9

// smallest returns a minimal set of rules that cannot hold together, of the
// smallest size if that can be found out, and whether the law is part of it.
func (x *explainer) smallest() (core []int, law bool) {
	all := make([]int, 0, len(x.set.Rules))
	for k, r := range x.set.Rules {
		if r != nil {
			all = append(all, k)
		}
	}
	law = x.set.Used != nil
	if !x.can(nil, law) {
		return nil, law
	}
	core = x.quick(nil, false, all, law)
	for size := 1; size < len(core); size++ {
		sets := 1.0
		for j := range size {
			sets *= float64(len(all)-j) / float64(j+1)
		}
		if sets*x.cost() > searchBudget {
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
	return core, law && x.can(core, false)
}

// cost returns about how many steps a question takes.
func (x *explainer) cost() float64 {
	if m := x.wanted.masks; m != nil {
		return float64(10 * len(m))
	}
	return x.work / max(x.asked, 1)
}

// quick returns a minimal subset of rules that cannot hold together with given
// ones. changed says that given ones were added since they were last asked for.
func (x *explainer) quick(given []int, changed bool, rules []int, law bool) []int {
	if changed && !x.can(given, law) {
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
		if !x.can(chosen, law) && x.err == nil {
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

// nameRules says no more than which rules are in conflict.
func (x *explainer) nameRules(c *Conflict) string {
	names := make([]string, len(c.Rules))
	for t, k := range c.Rules {
		names[t] = x.set.text(k)
	}
	if c.Law {
		names = append(names, "the numbers of used ingredients asked for")
	}
	if len(names) == 1 {
		return fmt.Sprintf("no composition of %d units keeps %s", x.set.Total, names[0])
	}
	return fmt.Sprintf("no composition of %d units keeps %s together", x.set.Total, andList(names))
}
