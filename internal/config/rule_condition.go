package config

import (
	"context"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// ConditionKind is the kind of constraint that restricts the values of a condition, such as a temperature.
var ConditionKind = ConstraintKind{
	Key: schema.NewKey("condition", schema.Link("condition rule"), "", "restricts the values of a condition", "{condition: {of: temperature, max: 180}}"),
	New: func(*Kinds) Constraint { return new(conditionRule) },
}

// A conditionRule is the value of a constraint on a condition. It has one of these forms:
//
//	condition: {of: temperature, max: 180}
//	condition: {of: catalyst, in: [A, B]}
type conditionRule struct {
	Of       *yaml.Node
	Is, In   *yaml.Node
	Min, Max Written[float64]

	node *yaml.Node
}

func (r *conditionRule) Sections() schema.Sections {
	value := schema.Either(schema.Number(), schema.Text("category"))
	return schema.Sections{{
		Name: "condition", ID: "condition rule", About: "`condition` gives the allowed values of a condition, or under `if`, the values for which the rules apply.",
		Keys: []schema.Key{
			newKey("of", schema.Text("condition"), "", "the condition", "{of: temperature, max: 180}", nodeReader(&r.Of)),
			newKey("is", value, "", "the only value of the condition", "{of: catalyst, is: B}", nodeReader(&r.Is)),
			newKey("in", schema.List(value, 1), "", "the values of the condition", "{of: catalyst, in: [A, B]}", nodeReader(&r.In)),
			newKey("min", schema.Number(), "none", "the least number", "{of: temperature, min: 160}", numberReader(&r.Min, "min")),
			newKey("max", schema.Number(), "none", "the greatest number", "{of: temperature, min: 160, max: 180}", numberReader(&r.Max, "max")),
		},
		Required:     []string{"of"},
		ExactlyOneOf: []string{"is", "in", "min max"},
		Mistakes: map[string]string{
			"condition": "write of: condition: {of: temperature, max: 180}",
			"value":     "write is: condition: {of: catalyst, is: B}",
			"values":    "write in: condition: {of: catalyst, in: [A, B]}",
			"not":       "write in, with the values that it may have: condition: {of: catalyst, in: [A, B]}",
			"from":      "write min: condition: {of: temperature, min: 160}",
			"to":        "write max: condition: {of: temperature, max: 180}",
		},
	}}
}

func (r *conditionRule) Decode(n *yaml.Node) error {
	const form = "write {of: temperature, max: 180} or {of: catalyst, is: B}"
	if err := n.Require("the rule", form, "of"); err != nil {
		return err
	}
	r.node = n
	if err := r.Sections()[0].Decode(n); err != nil {
		return err
	}
	bounds := r.Min.Node != nil || r.Max.Node != nil
	if r.Is == nil && r.In == nil && !bounds {
		return yaml.Hint(n.Errorf("the rule does not say which values"), form)
	}
	if r.Is != nil && (r.In != nil || bounds) || r.In != nil && bounds {
		return yaml.Hint(n.Errorf("the rule has more than one of is, in and bounds"), "write two rules")
	}
	return nil
}

// allowedValues returns the values of the condition that the rule allows, and a description of the values without the name of the condition.
func (r *conditionRule) allowedValues(d *Data) (v ConditionValues, text string, err error) {
	if v.Condition, err = d.FindCondition(r.Of); err != nil {
		return v, "", err
	}
	c := &d.Conditions[v.Condition]
	v.Allowed = make([]bool, c.Len())
	if r.Min.Node != nil || r.Max.Node != nil {
		if !c.IsNumeric() {
			return v, "", yaml.Hint(r.node.Errorf("%s has no numbers", c.Name), "write is or in, such as {of: %s, in: [%s]}", c.Name, strings.Join(c.Categories[:min(2, len(c.Categories))], ", "))
		}
		least, most, words, err := numberBounds(r.node, r.Min, r.Max, "the condition")
		for k, number := range c.Numbers {
			v.Allowed[k] = least <= number && number <= most
		}
		if c.Unit != "" {
			words += " " + c.Unit
		}
		return v, words, err
	}
	nodes := []*yaml.Node{r.Is}
	if r.In != nil {
		if nodes, err = r.In.List("in"); err != nil {
			return v, "", err
		}
	}
	var texts []string
	for _, n := range nodes {
		k, err := c.valueIndex(n)
		if err != nil {
			return v, "", err
		}
		v.Allowed[k] = true
		texts = append(texts, c.ValueText(k))
	}
	return v, strings.Join(texts, " or "), nil
}

// valueIndex returns the index of the value that the node n names.
func (c *Condition) valueIndex(n *yaml.Node) (k int, err error) {
	if c.IsNumeric() {
		v, err := n.Float("the value")
		if err != nil {
			return 0, err
		}
		if k = slices.Index(c.Numbers, v); k < 0 {
			return 0, yaml.Hint(n.Errorf("%s has no value %v", c.Name, v), "its values are from %s to %s", c.ValueText(0), c.ValueText(c.Len()-1))
		}
		return k, nil
	}
	text, err := n.Str("the value")
	if err != nil {
		return 0, err
	}
	if k = slices.Index(c.Categories, dataset.NormalizeName(text)); k < 0 {
		return 0, yaml.Hint(n.Errorf("%s has no value %s", c.Name, inputerr.Quote(text)), "its values are %s", inputerr.List(c.Categories, 8))
	}
	return k, nil
}

// ConditionValues is a set of values of a condition.
type ConditionValues struct {
	Condition int    // index of the condition
	Allowed   []bool // item v tells whether the set has the value with index v in the file
}

// complement returns the set of all other values of the condition.
func (v ConditionValues) complement() ConditionValues {
	other := ConditionValues{v.Condition, make([]bool, len(v.Allowed))}
	for k := range v.Allowed {
		other.Allowed[k] = !v.Allowed[k]
	}
	return other
}

func (r *conditionRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	v, text, err := r.allowedValues(d)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(v.Allowed, true) {
		return nil, yaml.Hint(r.node.Errorf("no value of %s is allowed", d.Conditions[v.Condition].Name), "its values are from %s to %s", d.Conditions[v.Condition].ValueText(0), d.Conditions[v.Condition].ValueText(len(v.Allowed)-1))
	}
	return []Demand{{Text: d.Conditions[v.Condition].Name + ": " + text, ConditionValues: []ConditionValues{v.complement()}, Forbids: true}}, nil
}
