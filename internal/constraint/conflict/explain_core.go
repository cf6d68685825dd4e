package conflict

import (
	"slices"

	"kir/rule"
)

// An explainer looks for the conflict in a set of rules, and for changes that resolve it.
type explainer struct {
	asker
	set question
}

// canHold reports whether the given rules can all hold. It is also true if that is unknown.
func (x *explainer) canHold(rules []int, law bool) bool {
	return x.ask(x.subset(rules, law), false) != unsatisfiable && x.err == nil
}

// subset returns the question for some of the rules, with or without the law of the number of ingredients.
func (x *explainer) subset(rules []int, law bool) question {
	s := x.set.onlyRules(rules)
	if !law {
		s.Used = nil
	}
	return s
}

// searchBudget is the greatest work for finding a smaller conflict, in steps of about 10⁻⁹ s.
const searchBudget = 3e9

// smallestCore returns a minimal set of conflicting rules, of the smallest size if the budget allows, and
// whether the law is part of the conflict.
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
	// Rules that conflict without the law also conflict with it. So a smallest set found with the law is
	// also smallest without it. Leaving out the law adds sizes to examine, so it is tried only once.
	return core, law && x.canHold(core, false)
}

// provenSubset returns the rules that the last proof used, if they alone conflict, and otherwise all. It must follow
// a proof that the rules in all conflict.
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
		case rule.Require, rule.Exclude, rule.Amount: // rules on single amounts, which every proof uses as bounds
			return false
		}
		return !needed[k]
	})
	if x.canHold(some, law) {
		return all
	}
	return some
}

// cost returns the mean work of a question so far, in steps.
func (x *explainer) cost() float64 {
	return x.work / max(x.questionCount, 1)
}

// quickXplain returns a minimal subset of rules that conflicts together with given. changed reports whether given has
// grown since its last test.
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

// coreOfSize returns a conflicting set of the rules in chosen and size others, or nil if there is none.
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
