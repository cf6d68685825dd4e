package compile

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// A propertyKind is a kind of property, and how it is compiled.
type propertyKind struct {
	config.PropertyKind
	compile func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error)

	// scoresEverySplit reports whether a property is scored split by split; nil: never. Other properties are
	// constant over most of a line.
	scoresEverySplit func(v config.Value) bool

	compiledOnce  bool // not compiled again to find more errors, because that is slow or starts a program
	hasDirections bool // its direction key can be replaced by another one
}

// compileAs returns the compile function of a kind whose value has type V.
func compileAs[V config.Value](compile func(ctx context.Context, s *readContext, v V, n *yaml.Node) (Property, error)) func(context.Context, *readContext, config.Value, *yaml.Node) (Property, error) {
	return func(ctx context.Context, s *readContext, v config.Value, n *yaml.Node) (Property, error) {
		return compile(ctx, s, v.(V), n)
	}
}

// scoresAnySplit is for properties that are scored split by split.
func scoresAnySplit(config.Value) bool { return true }

// RuleFields returns the kind and the fields of a rule. kind is empty if the rule can be written only by
// hand.
func RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []config.RuleField) {
	return allKinds().fileKinds().RuleFields(r, name)
}

// DirectionKeys returns, by kind of property, the keys that state its direction. Exactly one of them is
// present, and it can be replaced by another.
func DirectionKeys() map[string][]string {
	aims := make(map[string][]string)
	for _, k := range allKinds().properties {
		if k.hasDirections {
			aims[k.Name] = k.New().Sections()[0].Choices()
		}
	}
	return aims
}

// kinds has the kinds of constraints and properties that a problem may have.
type kinds struct {
	constraints []config.ConstraintKind
	properties  []propertyKind
}

// allKinds returns all kinds, in the order of the reference.
func allKinds() *kinds {
	return &kinds{
		constraints: config.ConstraintKinds(),
		properties: []propertyKind{
			learnKind, forestKind, processKind, modelKind, blendKind, pairsKind, noveltyKind, likenessKind,
			preferenceKind, markowitzKind, documentKind, expressionKind, programKind,
		},
	}
}

// fileKinds returns the kinds as a file has them.
func (k *kinds) fileKinds() *config.Kinds {
	of := &config.Kinds{Constraints: k.constraints, Sampler: samplerBounds()}
	for _, p := range k.properties {
		of.Properties = append(of.Properties, p.PropertyKind)
	}
	return of
}

// property returns the kind of property with a key, or nil.
func (k *kinds) property(name string) *propertyKind {
	i := slices.IndexFunc(k.properties, func(p propertyKind) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &k.properties[i]
}

// Schema returns the description of problem files.
func Schema() schema.Description { return allKinds().fileKinds().Description() }
