package problem

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// fields are the values of a mapping, by key.
type fields = map[string]*yaml.Node

// A propertyKind is a kind of property.
type propertyKind struct {
	config.PropertyKind

	// compile makes the property of a value that was decoded from a node.
	compile func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error)

	// Sections and read take the place of New and compile in kinds that decode and compile at once.
	Sections schema.Sections
	read     func(ctx context.Context, s *readContext, n *yaml.Node, f fields) (Property, error)

	// scoredBySplit reports whether the property at a node is scored split by split; nil: never. Other
	// properties are constant over most of a line.
	scoredBySplit func(n *yaml.Node) bool

	allowsText    bool // the section may be replaced by a text
	readOnce      bool // not read again to find more errors, because reading is slow or starts a program
	hasDirections bool // its direction key can be replaced by another one
}

// compiles returns the compile function of a kind whose value has type V.
func compiles[V config.Value](compile func(ctx context.Context, s *readContext, v V, n *yaml.Node) (Property, error)) func(context.Context, *readContext, config.Value, *yaml.Node) (Property, error) {
	return func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error) {
		return compile(ctx, s, v.(V), n)
	}
}

// sections returns the sections of the kind.
func (k *propertyKind) sections() schema.Sections {
	if k.New != nil {
		return k.New().Sections()
	}
	return k.Sections
}

// alwaysBySplit is for properties that are scored split by split.
func alwaysBySplit(*yaml.Node) bool { return true }

// RuleFields returns the kind and the fields of a rule. kind is empty if the rule can be written only by
// hand.
func RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []config.RuleField) {
	return config.AllKinds().RuleFields(r, name)
}

// DirectionKeys returns, by kind of property, the keys that state its direction. Exactly one of them is
// present, and it can be replaced by another.
func DirectionKeys() map[string][]string {
	aims := make(map[string][]string)
	for _, k := range allKinds().properties {
		if k.hasDirections {
			aims[k.Name] = k.sections()[0].Choices()
		}
	}
	return aims
}

// kinds has the kinds of constraints and properties that a problem may have.
type kinds struct {
	constraints *config.Kinds
	properties  []propertyKind
}

// allKinds returns all kinds, in the order of the reference.
func allKinds() *kinds {
	return &kinds{
		constraints: config.AllKinds(),
		properties: []propertyKind{
			learnKind, forestKind, processKind, modelKind, blendKind, pairsKind, noveltyKind, likenessKind,
			preferenceKind, markowitzKind, documentKind, expressionKind, programKind,
		},
	}
}

// schema returns the description of problem files with these kinds.
func (k *kinds) schema() (d schema.Description) {
	d.Rules, d.Sampler = k.constraints.Description().Rules, samplerBounds()
	for _, p := range k.properties {
		d.Properties = append(d.Properties, schema.Kind{Key: p.Key, Sections: p.sections()})
	}
	return d
}

// property returns the kind of property with a key.
func (k *kinds) property(name string) *propertyKind {
	return &k.properties[slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })]
}

// Schema returns the description of problem files.
func Schema() schema.Description { return allKinds().schema() }

// newKey returns a key of a section.
func newKey(name string, is schema.Type, missing, about, example string) schema.Key {
	return schema.NewKey(name, is, missing, about, example)
}
