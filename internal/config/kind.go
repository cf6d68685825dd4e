package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// A Value is what stands under the key of a kind: a struct with a field for each key that the file may have
// there. Its sections bind the keys to the fields, so that the struct is decoder, JSON Schema and reference
// at once.
type Value interface {
	// Sections returns the descriptions of the value, its own first, bound to the fields. It returns nil if
	// the value has no keys.
	Sections() schema.Sections

	// Decode sets the fields from a node, and checks what can be checked without the problem's data.
	Decode(n *yaml.Node) error
}

// A Constraint is the value of a kind of constraint.
type Constraint interface {
	Value

	// Compile returns what the constraint demands of compositions.
	Compile(ctx context.Context, d *Data) ([]Demand, error)
}

// A ConstraintKind is a kind of constraint: its key, and what stands under it.
type ConstraintKind struct {
	schema.Key
	New func(*Kinds) Constraint // returns an empty value; constraints within it are of these kinds

	// Fields returns the fields of a rule of this kind, always the same number; nil if the rule has another
	// type. Rules of a kind without Fields can be changed only by hand.
	Fields func(r rule.Rule, name func(ingredient int) string) []RuleField
}

// A PropertyKind is a kind of property: its key, and what stands under it.
type PropertyKind struct {
	schema.Key
	New        func() Value // returns an empty value
	AllowsText bool         // a text may stand in place of the section
}

// A Demand is what an item of the constraints demands of compositions.
type Demand struct {
	Text  string      // description
	Rules []rule.Rule // one rule, or several, such as one for each ingredient's doses
	Texts []string    // descriptions of the single rules, if there are several
	Stock map[int]int // stock of ingredients, in units; nil: no stock
	At    *yaml.Node  // where it stands; nil: at the item

	// When restricts the demand to the values of conditions: it holds where each of these conditions has one of
	// these values. With Forbids nothing is allowed there, and there are no rules.
	When    []ConditionValues
	Forbids bool

	Predicted *PredictedLimit // limit of what a property predicts, which is no rule of amounts; else nil
}

// singleDemand returns a list with one rule.
func singleDemand(text string, r rule.Rule) []Demand {
	return []Demand{{Text: text, Rules: []rule.Rule{r}}}
}

// addRule adds a rule and its description.
func (r *Demand) addRule(one rule.Rule, text string) {
	r.Rules, r.Texts = append(r.Rules, one), append(r.Texts, text)
}

// transform changes the rules and their descriptions.
func (r *Demand) transform(text func(string) string, change func(rule.Rule) rule.Rule) {
	r.Text = text(r.Text)
	for k := range r.Texts {
		r.Texts[k] = text(r.Texts[k])
	}
	for k := range r.Rules {
		r.Rules[k] = change(r.Rules[k])
	}
}

// A RuleField is the value of one key of a rule.
type RuleField struct {
	Key    string // empty if ingredients stand directly under the kind
	Value  any    // a number, two numbers, or names of ingredients; nil if not set
	Amount bool   // the numbers are units of the total
}

// typedFields wraps a function for one type of rule so that it returns nil for other types.
func typedFields[R rule.Rule](fields func(r R, name func(int) string) []RuleField) func(rule.Rule, func(int) string) []RuleField {
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
