package config

import (
	"context"
	"fmt"
	"math"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// LimitKind bounds the mean of an attribute, over the composition or over some ingredients, or what a
// property predicts.
var LimitKind = ConstraintKind{
	Key: schema.NewKey("limit", schema.Link("limit"), "", "a mean over the composition, or over some of it", "{limit: {attribute: abv, min: 10, max: 25}}"),
	New: func(*Kinds) Constraint { return new(limit) },
	Fields: typedFields(func(l rule.Limit, _ func(int) string) []RuleField {
		return []RuleField{{"min", nilIf(l.Min, math.Inf(-1)), false}, {"max", nilIf(l.Max, math.Inf(1)), false}}
	}),
}

// A limit is one of
//
//	limit: {attribute: cost, of: {phase: oil}, max: 12}
//	limit: {property: viscosity, min: 20, max: 40, sure: "80%"}
type limit struct {
	Attribute, Property Written[string]
	Of                  Ingredients
	Min, Max            *yaml.Node // numbers for an attribute; what the property's value is written as for a property
	Sure                *yaml.Node

	at          *yaml.Node
	least, most Written[float64] // bounds of an attribute
}

func (r *limit) Sections() schema.Sections {
	return schema.Sections{{
		Name: "limit", ID: "limit", About: "Bounds on Σ a_i·x_i / Σ x_i, over all ingredients or some; or on what a property predicts.",
		Keys: []schema.Key{
			key("attribute", schema.Text("attribute"), "", "a column of the ingredients, of numbers, or a constituent", "{attribute: cost, max: 20}", asText(&r.Attribute, "the attribute")),
			key("of", schema.Ingredients(), "all", "the mean over these alone", "{attribute: cost, of: {family: spirit}, max: 15}", asNode(&r.Of)),
			key("property", schema.Text("property"), "", "one of the problem's properties: its value, its chance, or else its score", "{property: Fresh, min: \"20%\"}", asText(&r.Property, "the property")),
			key("sure", schema.Either(schema.Percentage(), schema.Between(0, 1)), "", "the least probability with which a measurement lies within the bounds; without it the bounds hold for the predicted value", "{property: stars, min: 2, sure: \"10%\"}", asNode(&r.Sure)),
			key("min", schema.Either(schema.Number(), schema.Percentage()), "none", "the least", "{attribute: abv, min: 10}", asNode(&r.Min)),
			key("max", schema.Either(schema.Number(), schema.Percentage()), "none", "the greatest", "{attribute: abv, max: 30}", asNode(&r.Max)),
		},
		ExactlyOneOf: []string{"attribute", "property"},
		AtLeastOneOf: []string{"min", "max"},
		Excludes:     map[string]string{"property": "of"},
		Requires:     map[string]string{"sure": "property"},
		Extra: []schema.Object{{"anyOf": []schema.Object{
			{"required": []string{"property"}},
			{"properties": schema.Object{"min": schema.Object{"type": "number"}, "max": schema.Object{"type": "number"}}},
		}}},
		Mistakes: map[string]string{
			"exactly": "write min and max alike: limit: {attribute: abv, min: 20, max: 20}",
			"in":      "write of: limit: {attribute: cost, of: {phase: oil}, max: 12}",
			"file":    "a table of limits is limits: {file: limits.csv}",
		},
	}}
}

func (r *limit) Decode(n *yaml.Node) error {
	r.at = n
	if err := r.Sections()[0].Decode(n); err != nil {
		return err
	}
	if r.Property.At != nil {
		return r.checkPredicted(n)
	}
	if r.Sure != nil {
		return yaml.Hint(r.Sure.Errorf("sure is of what a property predicts"), "remove it, or write property instead of attribute")
	}
	if r.Attribute.At == nil {
		return nil // Compile knows which attributes there are
	}
	for _, b := range []struct {
		at  *yaml.Node
		key string
		to  *Written[float64]
	}{{r.Min, "min", &r.least}, {r.Max, "max", &r.most}} {
		if b.at != nil {
			if err := asNumber(b.to, b.key)(b.at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *limit) Compile(_ context.Context, d *Data) ([]Demand, error) {
	if r.Property.At != nil {
		return r.predictedDemand(d)
	}
	if r.Attribute.At == nil {
		return nil, r.namelessError(d)
	}
	name := r.Attribute.Value
	values, err := d.AttributeNumbers(r.Attribute.At, name)
	if err != nil {
		return nil, err
	}
	limit := rule.Limit{Attribute: name, Factors: values, Of: d.Block.Indexes()}
	text := "limit of " + name
	if r.Of != nil {
		var of string
		if limit.Of, of, err = d.WhichIngredients(r.Of); err != nil {
			return nil, err
		}
		text += " in " + of
	}
	var words string
	limit.Min, limit.Max, words, err = numberBounds(r.at, r.least, r.most, "the limit")
	return singleDemand(text+words, limit), err
}

// namelessError returns the error of a limit without an attribute. A bound that is the name of one is taken
// for it.
func (r *limit) namelessError(d *Data) error {
	name := "abv"
	for _, v := range []*yaml.Node{r.Min, r.Max} {
		if v != nil && d.isColumn(v) {
			name = v.Text
		}
	}
	return yaml.Hint(r.at.Errorf("the limit names no attribute"), "write {attribute: %s, min: 10, max: 25}", name)
}

// numberBounds returns min and max, ±Inf where they are not written, and a description. One of them must be
// written, and they must not contradict each other.
func numberBounds(n *yaml.Node, least, most Written[float64], what string) (lo, hi float64, words string, err error) {
	lo, hi = least.Or(math.Inf(-1)), most.Or(math.Inf(1))
	if least.At != nil {
		words += fmt.Sprintf(" min %v", lo)
	}
	if most.At != nil {
		words += fmt.Sprintf(" max %v", hi)
	}
	if words == "" {
		return 0, 0, "", yaml.Hint(n.Errorf("%s bounds nothing", what), "add min or max")
	}
	if lo > hi {
		return 0, 0, "", yaml.Hint(n.Errorf("the rule contradicts itself: min is %v and max %v", lo, hi), "swap them")
	}
	return lo, hi, words, nil
}
