package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// A Value is the value under the key of a kind of constraint or property. It is a struct with a field for each
// key that the value may have in the file. Its sections describe the keys, and decode the value of each key
// into its field. The JSON Schema and the reference documentation are generated from the sections.
type Value interface {
	// Sections returns the descriptions of the keys of the value. The Read functions of the first section set
	// the fields. Further sections describe nested values. The result is nil if the value has no keys.
	Sections() schema.Sections

	// Decode sets the fields from the node n. It checks everything that can be checked without the [Data] of
	// the problem.
	Decode(n *yaml.Node) error
}

// A Constraint is the [Value] under the key of a kind of constraint.
type Constraint interface {
	Value

	// Compile returns the demands that the constraint makes of compositions.
	Compile(ctx context.Context, d *Data) ([]Demand, error)
}

// A ConstraintKind is a kind of constraint. It has a key and the type of the value under the key.
type ConstraintKind struct {
	schema.Key
	New func(*Kinds) Constraint // returns an empty value; the constraint may contain constraints of the given kinds

	// Fields returns the fields of the rule r if r is of this kind, and nil if r is of another kind. The
	// function name returns the name of an ingredient. The number of fields does not depend on r. If Fields is
	// nil, rules of the kind can be changed only by hand.
	Fields func(r rule.Rule, name func(ingredient int) string) []RuleField
}

// A PropertyKind is a kind of property. It has a key and the type of the value under the key.
type PropertyKind struct {
	schema.Key
	New        func() Value // returns an empty value
	AllowsText bool         // whether the value may be a text instead of a mapping
}

// A Demand is something that a constraint demands of compositions: rules, forbidden values of conditions, or a
// limit of what a property predicts.
type Demand struct {
	Text      string      // description of the demand
	Rules     []rule.Rule // rules that compositions must keep, such as one rule for each ingredient
	RuleTexts []string    // item k describes Rules[k]; nil if Text describes the only rule
	Stock     map[int]int // maps the index of an ingredient to its stock, in units of the total; nil if the demand is not about stock
	Node      *yaml.Node  // YAML node that the demand comes from; nil means the node of the constraint

	// ConditionValues lists values of conditions. The demand applies only if each listed condition has one of its listed
	// values. If Forbids is true, no composition is allowed with these values, and there are no rules.
	ConditionValues []ConditionValues
	Forbids         bool

	Predicted *PredictedLimit // limit of what a property predicts; nil if the demand is about amounts or conditions
}

// singleRuleDemand returns a list of one demand, which has one rule.
func singleRuleDemand(text string, r rule.Rule) []Demand {
	return []Demand{{Text: text, Rules: []rule.Rule{r}}}
}

// addRule adds a rule to the demand. The parameter text is the description of the rule.
func (r *Demand) addRule(newRule rule.Rule, text string) {
	r.Rules, r.RuleTexts = append(r.Rules, newRule), append(r.RuleTexts, text)
}

// transformRules replaces each description d by changeText(d), and each rule r by changeRule(r).
func (r *Demand) transformRules(changeText func(string) string, changeRule func(rule.Rule) rule.Rule) {
	r.Text = changeText(r.Text)
	for k := range r.RuleTexts {
		r.RuleTexts[k] = changeText(r.RuleTexts[k])
	}
	for k := range r.Rules {
		r.Rules[k] = changeRule(r.Rules[k])
	}
}

// A RuleField is one key of a rule in a problem file, with the value under the key.
type RuleField struct {
	Key    string // name of the key; empty if the names of ingredients stand directly under the kind of rule
	Value  any    // one number, two numbers, or names of ingredients; nil if the rule does not have the key
	Amount bool   // whether the value has numbers of units of the total
}

// fieldsForRuleType returns a function that calls fields for a rule of type R, and that returns nil for any
// other rule.
func fieldsForRuleType[R rule.Rule](fields func(r R, name func(int) string) []RuleField) func(rule.Rule, func(int) string) []RuleField {
	return func(r rule.Rule, name func(int) string) []RuleField {
		if r, ok := r.(R); ok {
			return fields(r, name)
		}
		return nil
	}
}

// valueOrNil returns v, or nil if v equals none.
func valueOrNil[T comparable](v, none T) any {
	if v == none {
		return nil
	}
	return v
}
