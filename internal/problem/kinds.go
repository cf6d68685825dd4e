package problem

import (
	"context"
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// fields are the values of a mapping, by key.
type fields = map[string]*yaml.Node

// A ruleKind is a kind of rule.
type ruleKind struct {
	schema.Key
	Sections schema.Sections // sections of its schema.Kind

	// read reads the value under the key: node n, or its fields f if the kind has a section.
	read func(ctx context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error)

	// ruleFields returns the fields of a rule of this kind, always the same number; nil if the rule has
	// another type. Rules of a kind without ruleFields can be changed only by hand.
	ruleFields func(r rule.Rule, name func(ingredient int) string) []RuleField
}

// A RuleField is the value of one key of a rule.
type RuleField struct {
	Key    string // empty if ingredients stand directly under the kind
	Value  any    // a number, two numbers, or names of ingredients; nil if not set
	Amount bool   // the numbers are units of the total
}

// RuleFields returns the kind and the fields of a rule. kind is empty if the rule can be written only by
// hand.
func RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []RuleField) {
	for _, k := range allKinds().rules {
		if k.ruleFields != nil {
			if all := k.ruleFields(r, name); all != nil {
				return k.Name, all
			}
		}
	}
	return "", nil
}

// typedFields wraps a function for one type of rule so that it returns nil for other types.
func typedFields[R rule.Rule](says func(r R, name func(int) string) []RuleField) func(rule.Rule, func(int) string) []RuleField {
	return func(r rule.Rule, name func(int) string) []RuleField {
		if r, ok := r.(R); ok {
			return says(r, name)
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

// A propertyKind is a kind of property.
type propertyKind struct {
	schema.Key
	Sections schema.Sections
	read     func(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error)

	// scoredBySplit reports whether the property at a node is scored split by split; nil: never. Other
	// properties are constant over most of a line.
	scoredBySplit func(n *yaml.Node) bool

	allowsText    bool // the section may be replaced by a text
	readOnce      bool // not read again to find more errors, because reading is slow or starts a program
	hasDirections bool // its direction key can be replaced by another one
}

// alwaysBySplit is for properties that are scored split by split.
func alwaysBySplit(*yaml.Node) bool { return true }

// DirectionKeys returns, by kind of property, the keys that state its direction. Exactly one of them is
// present, and it can be replaced by another.
func DirectionKeys() map[string][]string {
	aims := make(map[string][]string)
	for _, k := range allKinds().properties {
		if k.hasDirections {
			aims[k.Name] = k.Sections[0].Choices()
		}
	}
	return aims
}

// kinds has the kinds of rules and properties that a problem may have.
type kinds struct {
	rules      []ruleKind
	properties []propertyKind
}

// allKinds returns all kinds, in the order of the reference.
func allKinds() *kinds {
	return &kinds{
		rules: []ruleKind{
			requireKind, excludeKind, amountKind, groupKind, neverKind, needsKind, limitKind, limitsKind,
			constituentsKind, ratioKind, nearKind, ifKind, blockKind,
		},
		properties: []propertyKind{
			learnKind, forestKind, processKind, modelKind, blendKind, pairsKind, noveltyKind, likenessKind,
			preferenceKind, markowitzKind, documentKind, expressionKind, programKind,
		},
	}
}

// schema returns the description of problem files with these kinds.
func (k *kinds) schema() (d schema.Description) {
	for _, r := range k.rules {
		d.Rules = append(d.Rules, schema.Kind{Key: r.Key, Sections: r.Sections})
	}
	for _, p := range k.properties {
		d.Properties = append(d.Properties, schema.Kind{Key: p.Key, Sections: p.Sections})
	}
	return d
}

// rule returns the kind of rule with a key.
func (k *kinds) rule(name string) *ruleKind {
	return &k.rules[slices.IndexFunc(k.rules, func(r ruleKind) bool { return r.Name == name })]
}

// property returns the kind of property with a key.
func (k *kinds) property(name string) *propertyKind {
	return &k.properties[slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })]
}

// Schema returns the description of problem files.
func Schema() schema.Description { return allKinds().schema() }

// newKey returns a key of a section.
func newKey(name string, is schema.Type, missing, about, example string) schema.Key {
	return schema.Key{Name: name, Type: is, Default: missing, About: about, Example: example}
}
