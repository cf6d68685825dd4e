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
	"kir/internal/number"
	"kir/rule"
)

// A fix is a change of a contradictory problem after which recipes are possible.
type fix struct {
	description string          // description of the change for the user
	changes     []change.Change // changes of the problem file; nil if the page cannot make the change
}

// findFixes returns the fixes for an error in a problem. There are fixes only if the error is a
// [compile.ConflictError].
func findFixes(err error, text string, converter amountConverter) []fix {
	var c *compile.ConflictError
	if !errors.As(err, &c) {
		return nil
	}
	var ways []fix
	for _, way := range c.Changes {
		after := way.Apply(c.Set)
		words, ok := describeFix(c, after, converter)
		if !ok {
			words = way.Text
		}
		ways = append(ways, fix{words, changesForFix(c, after, text, converter)})
	}
	return ways
}

// describeFix describes how changedRules differ from the rules of c, with amounts in the units of the
// page. The result ok is false if the rules differ in anything but amounts.
func describeFix(c *compile.ConflictError, changedRules rule.Set, m amountConverter) (description string, ok bool) {
	if m.totalUnits == 0 || c.Set.Text == nil || !slices.Equal(c.Set.Used, changedRules.Used) {
		return "", false
	}
	var all []string
	for k, was := range c.Set.Rules {
		is := changedRules.Rules[k]
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
			all = append(all, fmt.Sprintf("%s the %s of %s from %s to %s", verb, to.name, c.Set.Text(k), number.ShortShare(from.units, m.totalUnits), number.ShortShare(to.units, m.totalUnits)))
		}
	}
	return strings.Join(all, " and "), len(all) > 0
}

// A ruleAmount is an amount that a rule contains.
type ruleAmount struct {
	name  string // name of the amount for the user, such as "min"
	units int
}

// ruleAmounts returns the amounts that a rule contains, in a fixed order. It returns nil if the
// rule also contains values that are not amounts.
func ruleAmounts(r rule.Rule) (all []ruleAmount) {
	_, says := compile.RuleFields(r, emptyName)
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

// emptyName returns an empty name for any ingredient. Callers that need no names of ingredients use
// it.
func emptyName(int) string { return "" }

// changesForFix returns the changes of a problem file that replace the rules of c by changedRules. It
// returns nil if it cannot write a change. Amounts that are percentages in the file remain
// percentages.
func changesForFix(c *compile.ConflictError, changedRules rule.Set, text string, m amountConverter) (all []change.Change) {
	root, err := yaml.Parse("the problem", []byte(text))
	if err != nil {
		return nil
	}
	var drops []int
	for k, was := range c.Set.Rules {
		is := changedRules.Rules[k]
		if reflect.DeepEqual(was, is) {
			continue
		}
		if is == nil || allowsEveryRecipe(is) {
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
	if !slices.Equal(c.Set.Used, changedRules.Used) {
		law, ok := extendIngredientCounts(text, changedRules.Used)
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

// allowsEveryRecipe reports whether a rule has an empty list of ingredients and therefore allows
// every recipe.
func allowsEveryRecipe(r rule.Rule) bool {
	_, says := compile.RuleFields(r, emptyName)
	if len(says) != 1 {
		return false
	}
	of, several := says[0].Value.([]any)
	return several && len(of) == 0
}

// fieldChanges returns the changes of single fields in the problem file that turn oldRule into
// newRule. The index of the rule in the file is ruleIndex.
func fieldChanges(c *compile.ConflictError, ruleIndex int, oldRule, newRule rule.Rule) (all []change.SetRuleField, ok bool) {
	_, before := compile.RuleFields(oldRule, c.Set.Name)
	kind, after := compile.RuleFields(newRule, c.Set.Name)
	for k, s := range after {
		if !reflect.DeepEqual(s, before[k]) {
			all = append(all, change.SetRuleField{Place: ruleIndex, Kind: kind, Key: s.Key, Value: s.Value})
		}
	}
	return all, kind != ""
}

// extendIngredientCounts returns a change of the problem file after which the uniform distribution
// of the number of ingredients contains all given counts. The bool is false if the problem has no
// uniform distribution.
func extendIngredientCounts(text string, counts []int) (change.Change, bool) {
	root, err := yaml.Parse("the problem", []byte(text))
	if err != nil || len(counts) == 0 || root.Get("sparsity") == nil || root.Get("sparsity").Get("uniform") == nil {
		return nil, false
	}
	return change.Setting{Path: []string{"sparsity", "uniform"}, Value: []any{slices.Min(counts), slices.Max(counts)}}, true
}

// A Fault is what the page shows of an error in a problem.
type Fault struct {
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
	Place   string    `json:"place"` // file and line of the error; empty if unknown
	Fixes   []FixView `json:"ways"`  // changes of the problem, each of which would correct the error
}

// A FixView is what the page shows of a change that would correct an error.
type FixView struct {
	Text     string `json:"text"`
	Writable bool   `json:"writable"` // whether the page can make the change; if not, the user has to edit the file
}

// newFault returns what the page shows of an error. The parameter text is the text of the problem
// file.
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
		f.Fixes = append(f.Fixes, FixView{way.description, way.changes != nil})
	}
	return f
}
