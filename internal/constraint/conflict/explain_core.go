package conflict

import (
	"slices"

	"kir/rule"
)

// An explainer looks for the conflict in a set of rules, and for changes that resolve the conflict.
type explainer struct {
	asker
	question question // the rules to explain, with the permitted numbers of used ingredients
}

// canHold reports whether the rules with the given indices can all hold at once. If withUsedCounts is true, the
// number of used ingredients must also be permitted. The result is true, too, if the answer is unknown.
func (x *explainer) canHold(rules []int, withUsedCounts bool) bool {
	return x.ask(x.subsetQuestion(rules, withUsedCounts), false) != unsatisfiable && x.firstError == nil
}

// subsetQuestion returns the question whether the rules with the given indices can all hold. If withUsedCounts is
// true, the question includes the permitted numbers of used ingredients.
func (x *explainer) subsetQuestion(rules []int, withUsedCounts bool) question {
	s := x.question.onlyRules(rules)
	if !withUsedCounts {
		s.Used = nil
	}
	return s
}

// maxConflictSearchNanoseconds is the maximum estimated time, in nanoseconds, of trying all sets of rules of one size when
// smallestConflict looks for a smaller conflict.
const maxConflictSearchNanoseconds = 3e9

// smallestConflict returns the indices of a minimal set of conflicting rules. The set is the smallest possible
// unless trying all smaller sets takes more than maxConflictSearchNanoseconds. The result involvesUsedCounts
// reports whether the permitted numbers of used ingredients are part of the conflict.
func (x *explainer) smallestConflict() (core []int, involvesUsedCounts bool) {
	all := make([]int, 0, len(x.question.Rules))
	for k, r := range x.question.Rules {
		if r != nil {
			all = append(all, k)
		}
	}
	involvesUsedCounts = x.question.Used != nil
	if !x.canHold(nil, involvesUsedCounts) {
		return nil, involvesUsedCounts
	}
	core = x.quickXplain(nil, false, x.lastProofSubset(all, involvesUsedCounts), involvesUsedCounts)
	for size := 1; size < len(core); size++ {
		sets := 1.0
		for j := range size {
			sets = float64(sets * (float64(len(all)-j) / float64(j+1)))
		}
		if sets*x.meanWork() > maxConflictSearchNanoseconds {
			break
		}
		if found := x.conflictOfSize(all, size, nil, involvesUsedCounts); found != nil {
			core = found
		}
	}
	slices.Sort(core)
	// Rules that conflict for all numbers of used ingredients also conflict for the permitted numbers. So a
	// smallest set found for the permitted numbers is also smallest for all numbers. Asking for all numbers takes
	// longer, so the question is asked only once.
	return core, involvesUsedCounts && x.canHold(core, false)
}

// lastProofSubset returns the rules that the last proof of a conflict used, if these rules alone conflict, and
// otherwise all. The last proof must have shown that the rules with the indices in all conflict.
func (x *explainer) lastProofSubset(all []int, withUsedCounts bool) []int {
	if x.blamedRules == nil {
		return all
	}
	needed := make(map[int]bool)
	for _, k := range x.blamedRules {
		needed[k] = true
	}
	some := slices.DeleteFunc(slices.Clone(all), func(k int) bool {
		switch x.question.Rules[k].(type) {
		case rule.Require, rule.Exclude, rule.Amount: // rules on single amounts, which every proof uses as bounds
			return false
		}
		return !needed[k]
	})
	if x.canHold(some, withUsedCounts) {
		return all
	}
	return some
}

// meanWork returns the mean time, in nanoseconds, that a question has taken so far.
func (x *explainer) meanWork() float64 {
	return x.work / max(x.questionCount, 1)
}

// quickXplain returns a minimal subset of rules that conflicts together with the rules in given. The parameter
// changed reports whether given has grown since given was last tested. All rules are indices.
func (x *explainer) quickXplain(given []int, changed bool, rules []int, withUsedCounts bool) []int {
	if changed && !x.canHold(given, withUsedCounts) {
		return nil
	}
	if len(rules) <= 1 || x.isOverBudget() {
		return slices.Clone(rules)
	}
	a, b := rules[:len(rules)/2], rules[len(rules)/2:]
	fromB := x.quickXplain(slices.Concat(given, a), true, b, withUsedCounts)
	fromA := x.quickXplain(slices.Concat(given, fromB), len(fromB) > 0, a, withUsedCounts)
	return slices.Concat(fromA, fromB)
}

// conflictOfSize returns a conflicting set of rules, as indices, or nil if there is none. The set consists of the
// rules in chosen and of size further rules from the list rules.
func (x *explainer) conflictOfSize(rules []int, size int, chosen []int, withUsedCounts bool) []int {
	if size == 0 {
		if !x.canHold(chosen, withUsedCounts) && x.firstError == nil {
			return slices.Clone(chosen)
		}
		return nil
	}
	for t := 0; t+size <= len(rules); t++ {
		if found := x.conflictOfSize(rules[t+1:], size-1, append(chosen, rules[t]), withUsedCounts); found != nil {
			return found
		}
	}
	return nil
}
