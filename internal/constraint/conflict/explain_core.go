package conflict

import (
	"slices"

	"kir/rule"
)

// An explainer looks for the conflict in a set of rules, and for changes that resolve the conflict.
type explainer struct {
	asker
	rules question // the set of rules
}

// canHold reports whether the rules with the given indices can all hold. The permitted numbers of used
// ingredients are taken into account if law is true. The result is also true if the answer is unknown.
func (x *explainer) canHold(rules []int, law bool) bool {
	return x.ask(x.subsetQuestion(rules, law), false) != unsatisfiable && x.err == nil
}

// subsetQuestion returns the question for the rules with the given indices. The question includes the permitted
// numbers of used ingredients if law is true.
func (x *explainer) subsetQuestion(rules []int, law bool) question {
	s := x.rules.onlyRules(rules)
	if !law {
		s.Used = nil
	}
	return s
}

// maxCoreSearchWork is the maximum estimated work of the search for a smaller conflict of one size, in
// nanoseconds.
const maxCoreSearchWork = 3e9

// smallestCore returns the indices of a minimal set of conflicting rules, of the smallest size if the budget
// allows. The result law reports whether the permitted numbers of used ingredients are part of the conflict.
func (x *explainer) smallestCore() (core []int, law bool) {
	all := make([]int, 0, len(x.rules.Rules))
	for k, r := range x.rules.Rules {
		if r != nil {
			all = append(all, k)
		}
	}
	law = x.rules.Used != nil
	if !x.canHold(nil, law) {
		return nil, law
	}
	core = x.quickXplain(nil, false, x.provenSubset(all, law), law)
	for size := 1; size < len(core); size++ {
		sets := 1.0
		for j := range size {
			sets = float64(sets * (float64(len(all)-j) / float64(j+1)))
		}
		if sets*x.meanWork() > maxCoreSearchWork {
			break
		}
		if found := x.coreOfSize(all, size, nil, law); found != nil {
			core = found
		}
	}
	slices.Sort(core)
	// In these comments, the law is the permitted numbers of used ingredients. Rules that conflict without the
	// law also conflict with the law. So a smallest set found with the law is also smallest without the law.
	// Leaving out the law adds sizes to examine, so leaving out the law is tried only once.
	return core, law && x.canHold(core, false)
}

// provenSubset returns the rules that the last proof used, if these rules alone conflict, and otherwise all. The
// method must be called after a proof that the rules with the indices in all conflict.
func (x *explainer) provenSubset(all []int, law bool) []int {
	if x.blamedRules == nil {
		return all
	}
	needed := make(map[int]bool)
	for _, k := range x.blamedRules {
		needed[k] = true
	}
	some := slices.DeleteFunc(slices.Clone(all), func(k int) bool {
		switch x.rules.Rules[k].(type) {
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

// meanWork returns the mean work of a question so far, in nanoseconds.
func (x *explainer) meanWork() float64 {
	return x.work / max(x.questionCount, 1)
}

// quickXplain returns a minimal subset of rules that conflicts together with the rules in given. The parameter
// changed reports whether given has grown since given was last tested. All rules are indices.
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

// coreOfSize returns a conflicting set that consists of the rules in chosen and of as many further rules as size
// tells. The further rules are members of rules. The result is nil if no such set conflicts.
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
