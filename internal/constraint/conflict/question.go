package conflict

import (
	"fmt"
	"slices"

	"kir/internal/constraint"
	"kir/internal/number"
	"kir/rule"
)

// A question asks whether a set of rules can all hold. The conditions of the rules may be changed in ways that no
// rule can express.
type question struct {
	rule.Set
	conditionChanges []func(*constraint.Conditions) // functions that change the conditions in ways that no rule can express
}

// conditions returns the conditions of the rules, after the changes in conditionChanges.
func (s question) conditions() (*constraint.Conditions, error) {
	return constraint.FromRules(s.Set, s.conditionChanges...)
}

// joinNames joins the names of the given ingredients as "a, b and c". If there are more than 8 names, joinNames
// writes the first 7 names and how many names are left out.
func (s question) joinNames(ingredients []int) string {
	texts := make([]string, len(ingredients))
	for k, i := range ingredients {
		texts[k] = s.NameOf(i)
	}
	return joinWithAnd(texts)
}

// usedCounts returns the permitted numbers of used ingredients, in ascending order. Numbers that no composition
// can have are left out.
func (s question) usedCounts() []int {
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

// withRule returns the question with the rule at index k replaced by r. A nil r drops the rule.
func (s question) withRule(k int, r rule.Rule) question {
	s.Rules = slices.Clone(s.Rules)
	s.Rules[k] = r
	return s
}

// onlyRules returns a question that keeps only the rules at the given indices.
func (s question) onlyRules(rules []int) question {
	kept := make([]rule.Rule, len(s.Rules))
	for _, k := range rules {
		kept[k] = s.Rules[k]
	}
	s.Rules = kept
	return s
}

// joinWithAnd joins texts as "a, b and c". If there are more than 8 texts, joinWithAnd writes the first 7 texts
// and how many texts are left out.
func joinWithAnd(texts []string) string {
	const many = 8
	if len(texts) > many {
		texts = append(slices.Clone(texts[:many-1]), fmt.Sprintf("%d more", len(texts)-many+1))
	}
	return number.JoinAnd(texts)
}
