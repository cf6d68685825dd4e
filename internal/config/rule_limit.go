package config

import (
	"context"
	"fmt"
	"math"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// LimitKind is the kind of constraint that bounds the mean of an attribute, over the composition or over some
// ingredients. Instead it can bound the prediction of a property.
var LimitKind = ConstraintKind{
	Key: schema.NewKey("limit", schema.Link("limit"), "", "bounds the mean of an attribute, or a prediction of a property", "{limit: {attribute: abv, min: 10, max: 25}}"),
	New: func(*Kinds) Constraint { return new(limitRule) },
	Fields: fieldsForRuleType(func(l rule.Limit, _ func(int) string) []RuleField {
		return []RuleField{{"min", valueOrNil(l.Min, math.Inf(-1)), false}, {"max", valueOrNil(l.Max, math.Inf(1)), false}}
	}),
}

// A limitRule is the value of a constraint that bounds a mean or a prediction. It has one of these forms:
//
//	limit: {attribute: cost, of: {phase: oil}, max: 12}
//	limit: {property: viscosity, min: 20, max: 40, sure: "80%"}
type limitRule struct {
	Attribute, Property Written[string]
	Of                  Ingredients
	Min, Max            *yaml.Node // YAML nodes of the bounds; for an attribute, numbers; for a property, the form depends on the property
	Sure                *yaml.Node // YAML node of the minimum probability that a measurement is within the bounds, for a property

	node                 *yaml.Node
	minNumber, maxNumber Written[float64] // Min and Max as numbers, for an attribute
}

func (r *limitRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "limit", ID: "limit", About: "`limit` bounds the mean Σ a_i·x_i / Σ x_i of an attribute a over the amounts x_i, or bounds a property's prediction.",
		Keys: []schema.Key{
			newKey("attribute", schema.Text("attribute"), "", "a numerical column of the ingredients, or a constituent", "{attribute: cost, max: 20}", textReader(&r.Attribute, "the attribute")),
			newKey("of", schema.Ingredients(), "all", "the mean covers only these ingredients", "{attribute: cost, of: {family: spirit}, max: 15}", nodeReader(&r.Of)),
			newKey("property", schema.Text("property"), "", "a property of the problem, whose value, probability, or otherwise score the rule bounds", "{property: Fresh, min: \"20%\"}", textReader(&r.Property, "the property")),
			newKey("sure", schema.Either(schema.Percentage(), schema.Between(0, 1)), "", "least probability that a measurement is within the bounds. Without `sure`, the bounds apply to the predicted value", "{property: stars, min: 2, sure: \"10%\"}", nodeReader(&r.Sure)),
			newKey("min", schema.Either(schema.Number(), schema.Percentage()), "none", "lower bound", "{attribute: abv, min: 10}", nodeReader(&r.Min)),
			newKey("max", schema.Either(schema.Number(), schema.Percentage()), "none", "upper bound", "{attribute: abv, max: 30}", nodeReader(&r.Max)),
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

func (r *limitRule) Decode(n *yaml.Node) error {
	r.node = n
	if err := r.Sections()[0].Decode(n); err != nil {
		return err
	}
	if r.Property.Node != nil {
		return r.checkPredictedLimit(n)
	}
	if r.Sure != nil {
		return yaml.Hint(r.Sure.Errorf("sure is of what a property predicts"), "remove it, or write property instead of attribute")
	}
	if r.Attribute.Node == nil {
		return nil // Compile knows which attributes there are
	}
	for _, b := range []struct {
		at  *yaml.Node
		key string
		to  *Written[float64]
	}{{r.Min, "min", &r.minNumber}, {r.Max, "max", &r.maxNumber}} {
		if b.at != nil {
			if err := numberReader(b.to, b.key)(b.at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *limitRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	if r.Property.Node != nil {
		return r.predictedDemand(d)
	}
	if r.Attribute.Node == nil {
		return nil, r.missingAttributeError(d)
	}
	name := r.Attribute.Value
	values, err := d.AttributeNumbers(r.Attribute.Node, name)
	if err != nil {
		return nil, err
	}
	limit := rule.Limit{Attribute: name, Factors: values, Of: d.Block.Indexes()}
	text, over := name, "mean over the recipe"
	if d.Block != nil {
		over = "mean"
	}
	if r.Of != nil {
		var of string
		if limit.Of, of, err = d.WhichIngredients(r.Of); err != nil {
			return nil, err
		}
		text, over = text+" of "+of, "mean"
	}
	var words string
	limit.Min, limit.Max, words, err = numberBounds(r.node, r.minNumber, r.maxNumber, "the limit")
	if d.isConstituent(name) && r.Of == nil {
		return singleRuleDemand(text+": "+words, limit), err
	}
	return singleRuleDemand(text+": "+words+" ("+over+")", limit), err
}

// missingAttributeError returns the error for a limit without the keys attribute and property. If a bound is
// the name of an attribute, the hint uses that name.
func (r *limitRule) missingAttributeError(d *Data) error {
	name := "abv"
	for _, v := range []*yaml.Node{r.Min, r.Max} {
		if v != nil && d.namesAttribute(v) {
			name = v.Text
		}
	}
	return yaml.Hint(r.node.Errorf("the limit names no attribute"), "write {attribute: %s, min: 10, max: 25}", name)
}

// numberBounds returns two bounds as numbers, and a description of the bounds. A missing bound is ±Inf. If both
// bounds are missing, or if least is greater than most, it returns an error. The parameter what is the name of
// the rule in the error.
func numberBounds(n *yaml.Node, least, most Written[float64], what string) (lo, hi float64, words string, err error) {
	lo, hi = least.Or(math.Inf(-1)), most.Or(math.Inf(1))
	var texts [2]string
	if least.Node != nil {
		texts[0] = fmt.Sprint(lo)
	}
	if most.Node != nil {
		texts[1] = fmt.Sprint(hi)
	}
	if texts == [2]string{} {
		return 0, 0, "", yaml.Hint(n.Errorf("%s bounds nothing", what), "add min or max")
	}
	if lo > hi {
		return 0, 0, "", yaml.Hint(n.Errorf("the rule contradicts itself: min is %v and max %v", lo, hi), "swap them")
	}
	return lo, hi, boundsText(texts[0], texts[1], ""), nil
}
