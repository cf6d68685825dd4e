package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// A Value is the value under the key of a kind. It is a struct with a field for each key that the file may
// have there. Its sections describe the keys, and decode the value of each key into its field. The JSON
// Schema and the reference documentation are generated from the sections.
type Value interface {
	// Sections returns the descriptions of the keys of the value. The Read functions of the first section set
	// the fields. Further sections describe nested values. The result is nil if the value has no keys.
	Sections() schema.Sections

	// Decode sets the fields from a node. It checks everything that can be checked without the data of the
	// problem.
	Decode(n *yaml.Node) error
}

// A Constraint is the [Value] under the key of a kind of constraint.
type Constraint interface {
	Value

	// Compile returns what the constraint demands of compositions.
	Compile(ctx context.Context, d *Data) ([]Demand, error)
}

// A ConstraintKind is a kind of constraint. It has a key and the type of the value under the key.
type ConstraintKind struct {
	schema.Key
	New func(*Kinds) Constraint // returns an empty value; constraints within the value have the given kinds

	// Fields returns the fields of a rule of the kind. It returns nil if the rule is of another kind. The
	// number of fields does not depend on the rule. If Fields is nil, rules of the kind can be changed only
	// by hand.
	Fields func(r rule.Rule, name func(ingredient int) string) []RuleField
}

// A PropertyKind is a kind of property. It has a key and the type of the value under the key.
type PropertyKind struct {
	schema.Key
	New        func() Value // returns an empty value
	AllowsText bool         // whether the value may be a text instead of a mapping
}

// A Demand is what a constraint demands of compositions.
type Demand struct {
	Text      string      // description of the demand
	Rules     []rule.Rule // rules that compositions must keep, such as one rule for each ingredient
	RuleTexts []string    // by rule: its description; nil if Text describes the only rule
	Stock     map[int]int // by ingredient: its stock, in units of the total; nil if the demand is not about stock
	Node      *yaml.Node  // place of the demand in the file; nil means the place of the constraint

	// ConditionValues lists values of conditions. The demand applies only if each listed condition has one of its listed
	// values. If Forbids is true, no composition is allowed with these values, and there are no rules.
	ConditionValues []ConditionValues
	Forbids         bool

	Predicted *PredictedLimit // limit of what a property predicts; nil if the demand is about amounts or conditions
}

// singleDemand returns a list of one demand, which has one rule.
func singleDemand(text string, r rule.Rule) []Demand {
	return []Demand{{Text: text, Rules: []rule.Rule{r}}}
}

// addRule adds a rule and its description to the demand.
func (r *Demand) addRule(one rule.Rule, text string) {
	r.Rules, r.RuleTexts = append(r.Rules, one), append(r.RuleTexts, text)
}

// transformRules replaces each description by text(description), and each rule by change(rule).
func (r *Demand) transformRules(text func(string) string, change func(rule.Rule) rule.Rule) {
	r.Text = text(r.Text)
	for k := range r.RuleTexts {
		r.RuleTexts[k] = text(r.RuleTexts[k])
	}
	for k := range r.Rules {
		r.Rules[k] = change(r.Rules[k])
	}
}

// A RuleField is one key of a rule with its value.
type RuleField struct {
	Key    string // empty if the names of ingredients stand directly under the kind
	Value  any    // a number, two numbers, or names of ingredients; nil if the rule does not have the key
	Amount bool   // whether the numbers are units of the total
}

// fieldsForRuleType returns a function that calls fields for rules of type R and returns nil for other rules.
func fieldsForRuleType[R rule.Rule](fields func(r R, name func(int) string) []RuleField) func(rule.Rule, func(int) string) []RuleField {
	return func(r rule.Rule, name func(int) string) []RuleField {
		if r, ok := r.(R); ok {
			return fields(r, name)
		}
		return nil
	}
}

// nilIf returns v, or nil if v equals none.
func nilIf[T comparable](v, none T) any {
	if v == none {
		return nil
	}
	return v
}
