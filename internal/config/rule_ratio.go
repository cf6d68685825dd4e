package config

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// RatioKind is the kind of constraint that bounds a ratio: the total amount of some ingredients, divided by the
// total amount of other ingredients.
var RatioKind = ConstraintKind{
	Key: schema.NewKey("ratio", schema.Link("ratio"), "", "bounds the ratio of two totals", "{ratio: {of: Gin, to: Vermouth, min: 2, max: 3}}"),
	New: func(*Kinds) Constraint { return new(ratioRule) },
}

// A ratioRule is the value of a constraint that bounds the ratio of the total under "of" to the total under
// "to":
//
//	ratio: {of: {phase: emulsifier}, to: {phase: oil}, min: 0.05, max: 0.1}
type ratioRule struct {
	Of, To   Ingredients
	Min, Max Written[float64]

	node *yaml.Node
}

func (r *ratioRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "ratio", ID: "ratio", About: "`ratio` bounds the total of the ingredients under `of`, divided by the total of those under `to`.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "ingredients of the numerator", "{of: Gin, to: Vermouth, min: 2}", nodeReader(&r.Of)),
			newKey("to", schema.Ingredients(), "", "ingredients of the denominator", "{of: Gin, to: {family: citrus}, max: 3}", nodeReader(&r.To)),
			newKey("min", schema.AtLeast(0), "none", "the least ratio", "{of: Gin, to: Sugar, min: 1.5}", decodingReader(&r.Min, decodeRatio("min"))),
			newKey("max", schema.AtLeast(0), "none", "the greatest ratio", "{of: Sugar, to: {family: citrus}, max: 1}", decodingReader(&r.Max, decodeRatio("max"))),
		},
		Required:     []string{"of", "to"},
		AtLeastOneOf: []string{"min", "max"},
		Mistakes: map[string]string{
			"exactly": "write min and max alike: ratio: {of: Gin, to: Vermouth, min: 2, max: 2}",
			"between": "write min and max: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
		},
	}}
}

func decodeRatio(key string) func(*yaml.Node) (float64, error) {
	return func(n *yaml.Node) (float64, error) {
		if n.Kind == yaml.Text {
			return 0, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write a number: 2 for two to one, 0.05 for one to twenty")
		}
		return n.Weight(key)
	}
}

func (r *ratioRule) Decode(n *yaml.Node) error {
	if err := n.Require("the ratio", "write {of: Gin, to: Vermouth, min: 2, max: 3}", "of", "to"); err != nil {
		return err
	}
	r.node = n
	return r.Sections()[0].Decode(n)
}

func (r *ratioRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	above, of, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	below, to, err := d.WhichIngredients(r.To)
	if err != nil {
		return nil, err
	}
	least, most, words, err := numberBounds(r.node, r.Min, r.Max, "the ratio")
	return singleRuleDemand("ratio of "+of+" to "+to+": "+words, rule.Ratio{Of: above, To: below, Min: least, Max: most}), err
}
