package conflict

import (
	"slices"

	"kir/rule"
)

// An explainer finds out why a set cannot hold.
type explainer struct {
	asker
	set question
}

// canHold reports whether some of the rules can hold, as far as it is not shown that
// they cannot.
func (x *explainer) canHold(rules []int, law bool) bool {
	return x.ask(x.subset(rules, law), false) != unsatisfiable && x.err == nil
}

// subset returns the set of some of the rules, with the law or without.
func (x *explainer) subset(rules []int, law bool) question {
	s := x.set.onlyRules(rules)
	if !law {
		s.Used = nil
	}
	return s
}

// searchBudget is how much work looking for a smaller conflict may take, in steps
// of some 10⁻⁹ s.
const searchBudget = 3e9

// smallestCore returns a minimal set of rules that cannot hold together, of the
// smallest size if that can be found out, and whether the law is part of it.
func (x *explainer) smallestCore() (core []int, law bool) {
	all := make([]int, 0, len(x.set.Rules))
	for k, r := range x.set.Rules {
		if r != nil {
			all = append(all, k)
		}
	}
	law = x.set.Used != nil
	if !x.canHold(nil, law) {
		return nil, law
	}
	core = x.quickXplain(nil, false, x.provenSubset(all, law), law)
	for size := 1; size < len(core); size++ {
		sets := 1.0
		for j := range size {
			sets = float64(sets * (float64(len(all)-j) / float64(j+1)))
		}
		if sets*x.cost() > searchBudget {
			break
		}
		if found := x.coreOfSize(all, size, nil, law); found != nil {
			core = found
		}
	}
	slices.Sort(core)
	// Rules that cannot hold without the law cannot with it. So a set that is
	// smallest with it is so without it too, and the law, without which there are
	// more n to look at, is asked about once.
	return core, law && x.canHold(core, false)
}

// provenSubset returns those of all rules, which have been asked about and cannot hold, that
// the proof needed, if they alone cannot hold.
func (x *explainer) provenSubset(all []int, law bool) []int {
	if x.blamedRules == nil {
		return all
	}
	needed := make(map[int]bool)
	for _, k := range x.blamedRules {
		needed[k] = true
	}
	some := slices.DeleteFunc(slices.Clone(all), func(k int) bool {
		switch x.set.Rules[k].(type) {
		case rule.Require, rule.Exclude, rule.Amount: // which are in the bounds
			return false
		}
		return !needed[k]
	})
	if x.canHold(some, law) {
		return all
	}
	return some
}

// cost returns about how many steps a question takes.
func (x *explainer) cost() float64 {
	return x.work / max(x.questionCount, 1)
}

// quickXplain returns a minimal subset of rules that cannot hold together with given
// ones. changed says that given ones were added since they were last asked for.
func (x *explainer) quickXplain(given []int, changed bool, rules []int, law bool) []int {
	if changed && !x.canHold(given, law) {
		return nil
	}
	if len(rules) <= 1 || x.isOverBudget() {
		return slices.Clone(rules)
	}
	a, b := rules[:len(rules)/2], rules[len(rules)/2:]
	fromB := x.quickXplain(slices.Concat(given, a), true, b, law)
	fromA := x.quickXplain(slices.Concat(given, fromB), len(fromB) > 0, a, law)
	return slices.Concat(fromA, fromB)
}

// coreOfSize returns a set of rules of a size that cannot hold together, nil if
// there is none.
func (x *explainer) coreOfSize(rules []int, size int, chosen []int, law bool) []int {
	if size == 0 {
		if !x.canHold(chosen, law) && x.err == nil {
			return slices.Clone(chosen)
		}
		return nil
	}
	for t := 0; t+size <= len(rules); t++ {
		if found := x.coreOfSize(rules[t+1:], size-1, append(chosen, rules[t]), law); found != nil {
			return found
		}
	}
	return nil
}
