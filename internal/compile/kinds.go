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

	// scoresEverySplit reports whether a property is scored separately at every split, that is, at every way
	// in which two ingredients can share their joint amount. Other properties are constant over most splits.
	// A nil function means that no property of the kind is scored in this way.
	scoresEverySplit func(v config.Value) bool

	compiledOnce  bool // whether a faulty property is not compiled again to find more errors, because compiling is slow or starts a program
	hasDirections bool // whether the key that states the direction of the property can be replaced by another such key
}

// withValueType converts a compile function for values of type V into one for values of any kind.
func withValueType[V config.Value](compile func(ctx context.Context, s *readContext, v V, n *yaml.Node) (Property, error)) func(context.Context, *readContext, config.Value, *yaml.Node) (Property, error) {
	return func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error) {
		return compile(ctx, s, v.(V), n)
	}
}

// alwaysScoresEverySplit is the scoresEverySplit function of kinds whose properties are always scored at
// every split.
func alwaysScoresEverySplit(config.Value) bool { return true }

// RuleFields returns the key of the kind of a rule, and the fields of the rule. kind is empty if the rule can
// be changed only by hand.
func RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []config.RuleField) {
	return allKinds().fileKinds().RuleFields(r, name)
}

// DirectionKeys returns the keys that can state the direction of a property, by the key of the kind of
// property. A property has exactly one of the keys, and that key can be replaced by another.
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

// fileKinds returns the kinds in the form of package config.
func (k *kinds) fileKinds() *config.Kinds {
	of := &config.Kinds{Constraints: k.constraints, Sampler: samplerBounds()}
	for _, p := range k.properties {
		of.Properties = append(of.Properties, p.PropertyKind)
	}
	return of
}

// propertyKindNamed returns the kind of property with a key, or nil if there is none.
func (k *kinds) propertyKindNamed(name string) *propertyKind {
	i := slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &k.properties[i]
}

// Schema returns the description of problem files.
func Schema() schema.Description { return allKinds().fileKinds().Description() }
