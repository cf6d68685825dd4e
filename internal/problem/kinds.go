package problem

import (
	"context"
	"slices"

	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/rule"
)

// fields are what stands in a mapping, by key.
type fields = map[string]*yaml.Node

// A ruleKind is a kind of rule.
type ruleKind struct {
	schema.Key
	Sections schema.Sections // as those of a schema.Kind

	// read reads what stands under the key: n, and by its keys f if the kind has a section.
	read func(ctx context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error)

	// ruleFields returns what a rule says under the keys of the kind, always as many; nil if the
	// rule is of another type. A kind without it cannot be changed but by hand.
	ruleFields func(r rule.Rule, name func(ingredient int) string) []RuleField
}

// A RuleField is what a rule says under a key of its kind.
type RuleField struct {
	Key    string // empty where ingredients stand under the kind itself
	Value  any    // a number, two, or the names of ingredients; nil where it says nothing
	Amount bool   // the numbers are units of the total
}

// RuleFields returns a kind of rule that says what a rule does, and what it says; no kind where
// that is for a person to write.
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

// typedFields returns what rules of one type say, and nothing of others.
func typedFields[R rule.Rule](says func(r R, name func(int) string) []RuleField) func(rule.Rule, func(int) string) []RuleField {
	return func(r rule.Rule, name func(int) string) []RuleField {
		if r, ok := r.(R); ok {
			return says(r, name)
		}
		return nil
	}
}

// nilIf returns a number, nil if it is the one that stands for none.
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

	// scoredBySplit says whether what stands there is scored split by split; nil: never. Other
	// properties are constant over most of a line.
	scoredBySplit func(n *yaml.Node) bool

	allowsText    bool // a text may stand in place of the section
	readOnce      bool // it is not read again to find more that is wrong: that takes long, or starts a program
	hasDirections bool // which of the keys of which one is there can be changed to another
}

// alwaysBySplit is for properties that are scored split by split.
func alwaysBySplit(*yaml.Node) bool { return true }

// DirectionKeys returns the keys of the kinds of properties that can be asked for something else:
// those of which one is there.
func DirectionKeys() map[string][]string {
	aims := make(map[string][]string)
	for _, k := range allKinds().properties {
		if k.hasDirections {
			aims[k.Name] = k.Sections[0].Choices()
		}
	}
	return aims
}

// kinds are the kinds of rules and of properties that a problem may have.
type kinds struct {
	rules      []ruleKind
	properties []propertyKind
}

// allKinds returns the kinds that there are, in the order of the reference.
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

// schema describes problems that have these kinds.
func (k *kinds) schema() (d schema.Description) {
	for _, r := range k.rules {
		d.Rules = append(d.Rules, schema.Kind{Key: r.Key, Sections: r.Sections})
	}
	for _, p := range k.properties {
		d.Properties = append(d.Properties, schema.Kind{Key: p.Key, Sections: p.Sections})
	}
	return d
}

// rule returns a kind of rule by its key.
func (k *kinds) rule(name string) *ruleKind {
	return &k.rules[slices.IndexFunc(k.rules, func(r ruleKind) bool { return r.Name == name })]
}

// property returns a kind of property by its key.
func (k *kinds) property(name string) *propertyKind {
	return &k.properties[slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })]
}

// Schema describes problem files.
func Schema() schema.Description { return allKinds().schema() }

// newKey returns a key of a section.
func newKey(name string, is schema.Type, missing, about, example string) schema.Key {
	return schema.Key{Name: name, Type: is, Default: missing, About: about, Example: example}
}
