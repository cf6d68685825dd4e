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

// A fix describes a change that would make an impossible problem possible, in words and as
// changes of its file. Without changes a person has to write it.
type fix struct {
	text    string
	changes []change.Change
}

// findFixes returns fixes for an error of a problem.
func findFixes(err error, text string, m measure) []fix {
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

// fixText describes how the rules of another set differ, with amounts in the page's units. ok
// is false if more than amounts differ.
func fixText(c *compile.ConflictError, after rule.Set, m measure) (words string, ok bool) {
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
			all = append(all, fmt.Sprintf("%s the %s of %s from %s to %s", verb, to.name, m.rule(c.Set.Text(k), was), m.share(from.units), m.share(to.units)))
		}
	}
	return strings.Join(all, " and "), len(all) > 0
}

// A ruleAmount is an amount in a rule.
type ruleAmount struct {
	name  string
	units int
}

// ruleAmounts returns the amounts in a rule, in a fixed order. It returns nil if the rule has
// other values than amounts.
func ruleAmounts(r rule.Rule) (all []ruleAmount) {
	_, says := compile.RuleFields(r, anyName)
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

// anyName is a name function for callers that ignore names.
func anyName(int) string { return "" }

// fixChanges returns the changes of a file that turn its rules into those of another set. It
// returns nil if not all can be written. Percentages stay percentages.
func fixChanges(c *compile.ConflictError, after rule.Set, text string, m measure) (all []change.Change) {
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
			if drops = append(drops, c.Of[k].Place); !c.Of[k].Alone {
				return nil
			}
			continue
		}
		amends, ok := amendsOf(c, c.Of[k].Place, was, is)
		if !ok || !c.Of[k].Alone {
			return nil
		}
		for _, a := range amends {
			all = append(all, m.matchNotation(a, root))
		}
	}
	if !slices.Equal(c.Set.Used, after.Used) {
		law, ok := lawChange(text, after.Used)
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

// isVacuous reports whether a rule requires or excludes nothing.
func isVacuous(r rule.Rule) bool {
	_, says := compile.RuleFields(r, anyName)
	if len(says) != 1 {
		return false
	}
	of, several := says[0].Value.([]any)
	return several && len(of) == 0
}

// amendsOf returns the changes of a rule's fields in a file that turn rule was into rule is.
func amendsOf(c *compile.ConflictError, place int, was, is rule.Rule) (all []change.SetRuleField, ok bool) {
	_, before := compile.RuleFields(was, c.Set.Name)
	kind, after := compile.RuleFields(is, c.Set.Name)
	for k, s := range after {
		if !reflect.DeepEqual(s, before[k]) {
			all = append(all, change.SetRuleField{Place: place, Kind: kind, Key: s.Key, Value: s.Value})
		}
	}
	return all, kind != ""
}

// lawChange returns the change that extends a uniform law of n to the given numbers of
// ingredients.
func lawChange(text string, used []int) (change.Change, bool) {
	root, err := yaml.Parse("the problem", []byte(text))
	if err != nil || len(used) == 0 || root.Get("sparsity") == nil || root.Get("sparsity").Get("uniform") == nil {
		return nil, false
	}
	return change.Setting{Path: []string{"sparsity", "uniform"}, Value: []any{slices.Min(used), slices.Max(used)}}, true
}

// A Fault is an error in a step's problem, as kir check reports it.
type Fault struct {
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
	Place   string    `json:"place"` // in the problem file
	Fixes   []FixView `json:"ways"`
}

// A FixView is the page's view of a fix.
type FixView struct {
	Text     string `json:"text"`
	Writable bool   `json:"writable"` // the page can apply it; otherwise a person has to write it
}

// newFault returns the page's view of an error.
func newFault(err error, text string, m measure) *Fault {
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
		f.Fixes = append(f.Fixes, FixView{way.text, way.changes != nil})
	}
	return f
}
