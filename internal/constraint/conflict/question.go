package conflict

import (
	"fmt"
	"slices"

	"kir/internal/constraint"
	"kir/internal/number"
	"kir/rule"
)

// A question asks whether a set of rules can all hold, after changes of the conditions that no rule can express.
type question struct {
	rule.Set
	conditionChanges []func(*constraint.Conditions) // changes of the conditions that no rule can express
}

// conditions returns the conditions of the rules, after the changes in conditionChanges.
func (s question) conditions() (*constraint.Conditions, error) {
	return constraint.FromRules(s.Set, s.conditionChanges...)
}

// joinNames joins the names of the given ingredients as "a, b and c". From more than 8 names, joinNames takes
// only the first 7 and the number of further names.
func (s question) joinNames(ingredients []int) string {
	texts := make([]string, len(ingredients))
	for k, i := range ingredients {
		texts[k] = s.NameOf(i)
	}
	return joinWithAnd(texts)
}

// usedCounts returns the permitted numbers of used ingredients that are possible at all, in ascending order.
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

// onlyRules returns the question with only the rules at the given indices.
func (s question) onlyRules(rules []int) question {
	kept := make([]rule.Rule, len(s.Rules))
	for _, k := range rules {
		kept[k] = s.Rules[k]
	}
	s.Rules = kept
	return s
}

// joinWithAnd joins texts as "a, b and c". From more than 8 texts, joinWithAnd takes only the first 7 and the
// number of further texts.
func joinWithAnd(texts []string) string {
	const many = 8
	if len(texts) > many {
		texts = append(slices.Clone(texts[:many-1]), fmt.Sprintf("%d more", len(texts)-many+1))
	}
	return number.JoinAnd(texts)
}
