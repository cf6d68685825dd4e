package config

import (
	"context"
	"math"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// GroupKind is the kind of constraint that bounds how many ingredients of a group are used, and their total
// amount.
var GroupKind = ConstraintKind{
	Key: schema.NewKey("group", schema.Link("group"), "", "bounds the number and the total of a group's ingredients", "{group: {of: [Gin, Vodka], used: [1, 1], total: [\"30%\", \"70%\"]}}"),
	New: func(*Kinds) Constraint { return new(groupRule) },
	Fields: fieldsForRuleType(func(g rule.Group, _ func(int) string) []RuleField {
		return []RuleField{{"used", rangeFieldValue(g.Used), false}, {"total", rangeFieldValue(g.Total), true}}
	}),
}

// rangeFieldValue returns the minimum and the maximum of a range, in the form of [RuleField.Value]. It returns nil
// for a nil range.
func rangeFieldValue(r *rule.Range) any {
	if r == nil {
		return nil
	}
	return []any{r.Min, r.Max}
}

type groupRule struct {
	Of    Ingredients
	Used  Written[rule.Range]
	Total Written[[2]Units]

	node *yaml.Node
}

func (r *groupRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "group", ID: "group",
		About: "`group` bounds several ingredients together.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "the members of the group", "{of: [Gin, Vodka], used: [1, 1]}", nodeReader(&r.Of)),
			newKey("used", schema.Pair(schema.Integer(0, math.MaxInt32)), "any", "least and greatest number of used members", "{of: {family: spirit}, used: [1, 2]}", decodingReader(&r.Used, decodeUsedRange)),
			newKey("total", schema.Pair(schema.Units(0)), "any", "least and greatest total of the members", "{of: {family: spirit}, total: [\"20%\", 700]}", decodingReader(&r.Total, func(n *yaml.Node) ([2]Units, error) { return decodePair(n, "total", `["30%", "70%"]`) })),
		},
		Required:     []string{"of"},
		AtLeastOneOf: []string{"used", "total"},
		Mistakes: map[string]string{
			"exactly":   "write the number twice: used: [2, 2]",
			"min":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
			"max":       `write the least and the greatest: total: ["30%", "70%"], or used: [1, 2]`,
			"ratio":     "a ratio is a rule of its own: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
			"attribute": "a mean is a limit: limit: {attribute: abv, of: [Gin, Vodka], max: 25}",
		},
	}}
}

// decodePair decodes a list of two values: a minimum and a maximum. In errors, the parameter what names the
// list, and example shows the right form.
func decodePair(n *yaml.Node, what, example string) (pair [2]*yaml.Node, err error) {
	if n.Kind != yaml.Sequence {
		return pair, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "write the least and the greatest, such as %s", example)
	}
	if len(n.Items) != 2 {
		return pair, yaml.Hint(n.Errorf("%s has %s", what, inputerr.Count(len(n.Items), "number")), "write the least and the greatest, such as %s", example)
	}
	return [2]*yaml.Node(n.Items), nil
}

// decodeUsedRange decodes the minimum and the maximum number of used ingredients.
func decodeUsedRange(n *yaml.Node) (r rule.Range, err error) {
	pair, err := decodePair(n, "used", "[1, 2]")
	if err != nil {
		return r, err
	}
	if r.Min, err = pair[0].Whole("the least number used", 0, math.MaxInt32); err != nil {
		return r, err
	}
	if r.Max, err = pair[1].Whole("the greatest number used", 0, math.MaxInt32); err != nil {
		return r, err
	}
	if r.Min > r.Max {
		return r, yaml.Hint(n.Errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
	}
	return r, nil
}

func (r *groupRule) Decode(n *yaml.Node) error {
	if err := requireOfKey(n, "group"); err != nil {
		return err
	}
	r.node = n
	return r.Sections()[0].Decode(n)
}

// requireOfKey returns an error if a mapping lacks the key "of", which names the ingredients of a rule. The
// parameter what is the name of the rule.
func requireOfKey(n *yaml.Node, what string) error {
	if n.Get("of") == nil {
		return yaml.Hint(n.Errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return nil
}

func (r *groupRule) Compile(_ context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	c, words := rule.Group{Of: of}, []string(nil)
	if r.Used.Node != nil {
		used := r.Used.Value
		if used.Min > len(of) {
			return nil, yaml.Hint(r.Used.Node.Errorf("the rule contradicts itself: at least %d used of %s", used.Min, inputerr.Count(len(of), "ingredient")), "lower it to %d", len(of))
		}
		c.Used = &used
		words = append(words, usedText(used.Min, used.Max, len(of)))
	}
	if r.Total.Node != nil {
		total := &rule.Range{}
		if total.Min, err = d.ReadUnits(r.Total.Value[0], "the least total", 0); err != nil {
			return nil, err
		}
		if total.Max, err = d.ReadUnits(r.Total.Value[1], "the greatest total", 0); err != nil {
			return nil, err
		}
		if total.Min > total.Max {
			return nil, yaml.Hint(r.Total.Node.Errorf("the rule contradicts itself: a total from %d to %d units", total.Min, total.Max), "write the smaller number first")
		}
		c.Total = total
		words = append(words, "together "+d.totalText(total.Min, total.Max))
	}
	if len(words) == 0 {
		return nil, yaml.Hint(r.node.Errorf("the rule bounds nothing"), "add used or total")
	}
	return singleRuleDemand(text+": "+strings.Join(words, ", "), c), nil
}
