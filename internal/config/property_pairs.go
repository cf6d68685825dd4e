package config

import (
	"slices"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// PairsKind is the kind of property that scores how well pairs of ingredients go together.
var PairsKind = PropertyKind{
	Key: schema.NewKey("pairs", schema.Link("pairs"), "", "scores pairs of ingredients", "{pairs: {lift: mean}}"),
	New: func() Value { return new(Pairs) },
}

// A Pairs is the value of a property that scores pairs of ingredients:
//
//	pairs: {lift: mean, smooth: 1, favour: [{of: [Gin, Lime juice], factor: 2}], avoid: [{of: [{family: citrus}, Cream], factor: 0.1}]}
//
// The lift of a pair compares how often recipes have both ingredients with what independence would predict.
type Pairs struct {
	Lift          Written[string] // how the lifts of pairs are combined: "mean", "product" or "none"
	Smooth        Written[float64]
	Favour, Avoid []PairFactor
}

// A PairFactor multiplies the score of compositions that use a certain pair of ingredients. A pair has one
// ingredient from each of the two Sides.
type PairFactor struct {
	Sides  Written[[2]Ingredients]
	Factor Written[float64]
}

// Sections implements [Value].
func (p *Pairs) Sections() schema.Sections {
	return schema.Sections{
		{
			Name: "pairs", ID: "pairs",
			About: "`pairs` scores how usual a recipe's pairs of ingredients are among the known recipes. `favour` and `avoid` add factors for chosen pairs.",
			Keys: []schema.Key{
				newKey("lift", schema.Choice("mean", "product", "none"), "`mean`; `none` without recipes", "how kir combines the lifts of pairs", "{lift: product}", decodingReader(&p.Lift, decodeLift)),
				newKey("smooth", schema.Above(0), "1", "prior weight, in recipes, that pulls lifts to 1", "{smooth: 2}", decodingReader(&p.Smooth, decodeSmooth)),
				newKey("favour", schema.List(schema.Link("pair to favour"), 0), "none", "pairs to prefer", "{favour: [{of: [Gin, Lemon juice], factor: 2}]}", pairFactorsReader(&p.Favour, "favour")),
				newKey("avoid", schema.List(schema.Link("pair to avoid"), 0), "none", "pairs to avoid", "{avoid: [{of: [Milk, {family: citrus}], factor: 0.01}]}", pairFactorsReader(&p.Avoid, "avoid")),
			},
			Extra: []schema.Object{{"not": schema.Object{"required": []string{"lift", "smooth"}, "properties": schema.Object{"lift": schema.Object{"const": "none"}}}}},
		},
		new(PairFactor).describeKeys("favour"),
		new(PairFactor).describeKeys("avoid"),
	}
}

// Decode implements [Value].
func (p *Pairs) Decode(n *yaml.Node) error { return p.Sections()[0].Decode(n) }

// describeKeys returns the description of the keys of a pair. The Read functions of the keys set the fields. The
// parameter name is "favour" or "avoid".
func (f *PairFactor) describeKeys(name string) *schema.Section {
	about, example := "A recipe with a pair to favour scores higher.", "3"
	factor, readFactor := schema.Above(1), decodingReader(&f.Factor, decodeFavouringFactor)
	if name == "avoid" {
		about, example = "A recipe with a pair to avoid scores lower; a factor of 0 forbids the pair.", "0.1"
		factor = schema.Type{Words: "number, 0 to below 1", Schema: schema.Object{"type": "number", "minimum": 0, "exclusiveMaximum": 1}}
		readFactor = decodingReader(&f.Factor, decodeAvoidingFactor)
	}
	return &schema.Section{
		Name: "a pair to " + name, ID: "pair to " + name, About: about,
		Keys: []schema.Key{
			newKey("of", schema.Pair(schema.Ingredients()), "", "two ingredients or groups, the sides of the pair", "{of: [Gin, {family: citrus}], factor: "+example+"}", decodingReader(&f.Sides, decodeSides)),
			newKey("factor", factor, "", "factor of the score for each used pair of one ingredient from either side", "{of: [Gin, Sugar], factor: "+example+"}", readFactor),
		},
		Required: []string{"of", "factor"},
	}
}

// pairFactorsReader returns a function that decodes a list of pairs. The parameter name is "favour" or
// "avoid".
func pairFactorsReader(field *[]PairFactor, name string) valueReader {
	return func(n *yaml.Node) error {
		items, err := n.List(name)
		if err != nil {
			return err
		}
		all := make([]PairFactor, len(items))
		for k, item := range items {
			s := all[k].describeKeys(name)
			if _, err := s.Fields(item); err != nil {
				return err
			}
			if err := item.Require("the pair", "write {of: [Gin, Lime juice], factor: 2}", s.Required...); err != nil {
				return err
			}
			if err := s.Decode(item); err != nil {
				return err
			}
		}
		*field = all
		return nil
	}
}

func decodeLift(n *yaml.Node) (string, error) {
	lift, err := n.Str("lift")
	if err == nil && !slices.Contains([]string{"mean", "product", "none"}, lift) {
		err = yaml.Hint(n.Errorf("lift is %s", n.Describe()), "write mean, product or none")
	}
	return lift, err
}

func decodeSmooth(n *yaml.Node) (float64, error) {
	smooth, err := n.Float("smooth")
	if err == nil && smooth <= 0 {
		err = yaml.Hint(n.Errorf("smooth is %s", n.Describe()), "it must be above 0: 1 counts as a recipe more")
	}
	return smooth, err
}

func decodeSides(n *yaml.Node) (sides [2]Ingredients, err error) {
	items, err := n.List("of")
	if err != nil {
		return sides, err
	}
	if len(items) != 2 {
		return sides, yaml.Hint(n.Errorf("a pair has two sides, not %d", len(items)), "write a pair an entry")
	}
	return [2]Ingredients{items[0], items[1]}, nil
}

func decodeFavouringFactor(n *yaml.Node) (float64, error) {
	factor, err := n.Weight("the factor")
	if err == nil && factor <= 1 {
		err = yaml.Hint(n.Errorf("a factor of %v favours nothing", factor), "write one above 1, or write the pair under avoid")
	}
	return factor, err
}

func decodeAvoidingFactor(n *yaml.Node) (float64, error) {
	factor, err := n.Weight("the factor")
	if err == nil && factor >= 1 {
		err = yaml.Hint(n.Errorf("a factor of %v avoids nothing", factor), "write one below 1, or write the pair under favour")
	}
	return factor, err
}
