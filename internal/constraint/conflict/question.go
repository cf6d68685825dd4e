package conflict

import (
	"fmt"
	"slices"

	"kir/internal/constraint"
	"kir/internal/number"
	"kir/rule"
)

// A question asks whether a set of rules can all hold, after changes that no rule can express.
type question struct {
	rule.Set
	overrides []func(*constraint.Conditions)
}

// conditions returns the conditions of the question.
func (s question) conditions() (*constraint.Conditions, error) {
	return constraint.FromRules(s.Set, s.overrides...)
}

// joinNames joins the names of ingredients. Of a long list it gives only the first few.
func (s question) joinNames(of []int) string {
	texts := make([]string, len(of))
	for k, i := range of {
		texts[k] = s.NameOf(i)
	}
	return andList(texts)
}

// sizes returns the permitted numbers of used ingredients that are possible at all, ascending.
func (s question) sizes() []int {
	most := min(s.Ingredients, s.Total)
	if s.Used == nil {
		all := make([]int, most)
		for k := range all {
			all[k] = k + 1
		}
		return all
	}
	sizes := slices.DeleteFunc(slices.Clone(s.Used), func(n int) bool { return n < 1 || n > most })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// withRule returns the question with rule k replaced by r; a nil r drops the rule.
func (s question) withRule(k int, r rule.Rule) question {
	s.Rules = slices.Clone(s.Rules)
	s.Rules[k] = r
	return s
}

// onlyRules returns the question with only the given rules.
func (s question) onlyRules(rules []int) question {
	kept := make([]rule.Rule, len(s.Rules))
	for _, k := range rules {
		kept[k] = s.Rules[k]
	}
	s.Rules = kept
	return s
}

// andList joins texts as "a, b and c". Of a long list it gives only the first few.
func andList(texts []string) string {
	const many = 8
	if len(texts) > many {
		texts = append(slices.Clone(texts[:many-1]), fmt.Sprintf("%d more", len(texts)-many+1))
	}
	return number.JoinAnd(texts)
}
