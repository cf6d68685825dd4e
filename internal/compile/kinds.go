package compile

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// A propertyKind is a kind of property, with the function that compiles a property of the kind.
type propertyKind struct {
	config.PropertyKind
	compile func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error)

	// scoresEverySplit reports whether a property has a different score at every split, that is, at every way
	// in which two ingredients can share their joint amount. The scores of other properties change only at few
	// splits. If the function is nil, no property of the kind scores every split.
	scoresEverySplit func(v config.Value) bool

	compiledOnce  bool // whether a faulty property is compiled only once, without a search for more errors, because compiling is slow or starts a program
	hasDirections bool // whether the property has exactly one of several keys for its direction, such as maximize and target
}

// withValueType converts a compile function for values of type V into a compile function for any
// [config.Value].
func withValueType[V config.Value](compile func(ctx context.Context, s *readContext, v V, n *yaml.Node) (Property, error)) func(context.Context, *readContext, config.Value, *yaml.Node) (Property, error) {
	return func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error) {
		return compile(ctx, s, v.(V), n)
	}
}

// alwaysScoresEverySplit is a function for the field scoresEverySplit of a [propertyKind]. It is for kinds
// whose properties have a different score at every split.
func alwaysScoresEverySplit(config.Value) bool { return true }

// RuleFields returns the key of the kind of the rule r, and the fields of r. The function name returns the name
// of an ingredient. The result kind is empty if r can be changed only by hand.
func RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []config.RuleField) {
	return allKinds().configKinds().RuleFields(r, name)
}

// DirectionKeys returns the keys that can tell the direction of a property, such as maximize and target. The
// map has one list for the key of each kind of property that has directions. A property of the kind has exactly
// one of the keys in the list, and that key can be replaced by another key in the list.
func DirectionKeys() map[string][]string {
	aims := make(map[string][]string)
	for _, k := range allKinds().properties {
		if k.hasDirections {
			aims[k.Name] = k.New().Sections()[0].Choices()
		}
	}
	return aims
}

// kinds lists the kinds of constraints and properties that a problem file may have.
type kinds struct {
	constraints []config.ConstraintKind
	properties  []propertyKind
}

// allKinds returns all kinds of constraints and properties, in the order of the reference documentation.
func allKinds() *kinds {
	return &kinds{
		constraints: config.ConstraintKinds(),
		properties: []propertyKind{
			learnKind, forestKind, processKind, modelKind, blendKind, pairsKind, noveltyKind, likenessKind,
			preferenceKind, markowitzKind, documentKind, expressionKind, programKind,
		},
	}
}

// configKinds returns the same kinds in the form of package config.
func (k *kinds) configKinds() *config.Kinds {
	of := &config.Kinds{Constraints: k.constraints, Sampler: samplerBounds()}
	for _, p := range k.properties {
		of.Properties = append(of.Properties, p.PropertyKind)
	}
	return of
}

// propertyKindNamed returns the kind of property with a key, or nil if there is no such kind.
func (k *kinds) propertyKindNamed(name string) *propertyKind {
	i := slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &k.properties[i]
}

// Schema returns the description of problem files.
func Schema() schema.Description { return allKinds().configKinds().Description() }
