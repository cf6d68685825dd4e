package serve

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// A fix is a change that would make a contradictory problem possible.
type fix struct {
	words   string          // description of the change
	changes []change.Change // changes of the problem file; nil if a person has to write the change
}

// findFixes returns the fixes for an error in a problem. There are none unless the error is a
// [compile.ConflictError].
func findFixes(err error, text string, m amountConverter) []fix {
	var c *compile.ConflictError
	if !errors.As(err, &c) {
		return nil
	}
	var ways []fix
	for _, way := range c.Changes {
		after := way.Apply(c.Set)
		words, ok := fixText(c, after, m)
		if !ok {
			words = way.Text
		}
		ways = append(ways, fix{words, fixChanges(c, after, text, m)})
	}
	return ways
}

// fixText describes the differences between the rules of c and the rules of after, with amounts in
// the page's units. The result ok is false if the rules differ in anything but amounts.
func fixText(c *compile.ConflictError, after rule.Set, m amountConverter) (words string, ok bool) {
	if m.total == 0 || c.Set.Text == nil || !slices.Equal(c.Set.Used, after.Used) {
		return "", false
	}
	var all []string
	for k, was := range c.Set.Rules {
		is := after.Rules[k]
		if reflect.DeepEqual(was, is) {
			continue
		}
		bounds := ruleAmounts(was)
		if is == nil || bounds == nil || reflect.TypeOf(was) != reflect.TypeOf(is) {
			return "", false
		}
		for b, to := range ruleAmounts(is) {
			from := bounds[b]
			if from.units == to.units {
				continue
			}
			verb := "raise"
			if to.units < from.units {
				verb = "lower"
			}
			all = append(all, fmt.Sprintf("%s the %s of %s from %s to %s", verb, to.name, m.ruleText(c.Set.Text(k), was), m.percentText(from.units), m.percentText(to.units)))
		}
	}
	return strings.Join(all, " and "), len(all) > 0
}

// A ruleAmount is an amount that a rule contains.
type ruleAmount struct {
	name  string // name of the amount for a reader
	units int
}

// ruleAmounts returns the amounts that a rule contains, in a fixed order. It returns nil if the
// rule also contains values that are not amounts.
func ruleAmounts(r rule.Rule) (all []ruleAmount) {
	_, says := compile.RuleFields(r, noName)
	for _, s := range says {
		switch v := s.Value.(type) {
		case nil:
			if s.Amount {
				all = append(all, ruleAmount{s.Key, 0})
			}
		case int:
			all = append(all, ruleAmount{s.Key, v})
		case []any:
			if s.Amount {
				all = append(all, ruleAmount{"least " + s.Key, v[0].(int)}, ruleAmount{"greatest " + s.Key, v[1].(int)})
			}
		}
		if s.Value != nil && !s.Amount {
			return nil
		}
	}
	return all
}

// noName returns no name for any ingredient. It serves callers that ignore names.
func noName(int) string { return "" }

// fixChanges returns the changes of a problem file that replace the rules of c by the rules of
// after. It returns nil if a change cannot be written. Percentages remain percentages.
func fixChanges(c *compile.ConflictError, after rule.Set, text string, m amountConverter) (all []change.Change) {
	root, err := yaml.Parse("the problem", []byte(text))
	if err != nil {
		return nil
	}
	var drops []int
	for k, was := range c.Set.Rules {
		is := after.Rules[k]
		if reflect.DeepEqual(was, is) {
			continue
		}
		if is == nil || isVacuous(is) {
			if drops = append(drops, c.ProblemRules[k].ConstraintIndex); !c.ProblemRules[k].IsOnlyRuleOfItem {
				return nil
			}
			continue
		}
		amends, ok := fieldChanges(c, c.ProblemRules[k].ConstraintIndex, was, is)
		if !ok || !c.ProblemRules[k].IsOnlyRuleOfItem {
			return nil
		}
		for _, a := range amends {
			all = append(all, m.keepPercentNotation(a, root))
		}
	}
	if !slices.Equal(c.Set.Used, after.Used) {
		law, ok := ingredientCountChange(text, after.Used)
		if !ok {
			return nil
		}
		all = append(all, law)
	}
	// Delete from the end, so that the indices of the others stay valid.
	slices.Sort(drops)
	for _, place := range slices.Backward(slices.Compact(drops)) {
		all = append(all, change.DropRule{Rule: place})
	}
	return all
}

// isVacuous reports whether a rule allows every recipe because its list of ingredients is empty.
func isVacuous(r rule.Rule) bool {
	_, says := compile.RuleFields(r, noName)
	if len(says) != 1 {
		return false
	}
	of, several := says[0].Value.([]any)
	return several && len(of) == 0
}

// fieldChanges returns the changes of a rule's fields in the problem file that turn the rule was
// into the rule is.
func fieldChanges(c *compile.ConflictError, place int, was, is rule.Rule) (all []change.SetRuleField, ok bool) {
	_, before := compile.RuleFields(was, c.Set.Name)
	kind, after := compile.RuleFields(is, c.Set.Name)
	for k, s := range after {
		if !reflect.DeepEqual(s, before[k]) {
			all = append(all, change.SetRuleField{Place: place, Kind: kind, Key: s.Key, Value: s.Value})
		}
	}
	return all, kind != ""
}

// ingredientCountChange returns the change that extends a uniform distribution of the number of
// ingredients to all numbers in used. The bool is false if the problem has no such distribution.
func ingredientCountChange(text string, used []int) (change.Change, bool) {
	root, err := yaml.Parse("the problem", []byte(text))
	if err != nil || len(used) == 0 || root.Get("sparsity") == nil || root.Get("sparsity").Get("uniform") == nil {
		return nil, false
	}
	return change.Setting{Path: []string{"sparsity", "uniform"}, Value: []any{slices.Min(used), slices.Max(used)}}, true
}

// A Fault is the page's view of an error in a problem.
type Fault struct {
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
	Place   string    `json:"place"` // file and line of the error; empty if unknown
	Fixes   []FixView `json:"ways"`  // changes that would correct the error
}

// A FixView is the page's view of a change that would correct an error.
type FixView struct {
	Text     string `json:"text"`
	Writable bool   `json:"writable"` // whether the page can apply the fix; if not, a person has to change the file
}

// newFault returns the page's view of an error. The parameter text is the text of the problem file.
func newFault(err error, text string, m amountConverter) *Fault {
	f := &Fault{Message: err.Error(), Fixes: []FixView{}}
	var bad *inputerr.Error
	if errors.As(err, &bad) {
		f.Message, f.Hint = bad.Message, bad.Hint
		if bad.Line > 0 {
			f.Place = fmt.Sprintf("%s, line %d", filepath.Base(bad.File), bad.Line)
		}
	}
	if several := (*inputerr.Errors)(nil); errors.As(err, &several) && len(several.All) > 1 {
		for _, e := range several.All[1:] {
			f.Hint += fmt.Sprintf("; and in line %d: %s", e.Line, e.Message)
		}
		f.Hint = strings.TrimPrefix(f.Hint, "; ")
	}
	for _, way := range findFixes(err, text, m) {
		f.Fixes = append(f.Fixes, FixView{way.words, way.changes != nil})
	}
	return f
}
