package problem

import (
	"context"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

var ratioKind = ruleKind{
	Key: newKey("ratio", schema.Link("ratio"), "", "what some take by what others do", "{ratio: {of: Gin, to: Vermouth, min: 2, max: 3}}"),
	Sections: schema.Sections{{
		Name: "ratio", ID: "ratio", About: "Bounds on Σ x_i of some over Σ x_i of others.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "what stands above", "{of: Gin, to: Vermouth, min: 2}"),
			newKey("to", schema.Ingredients(), "", "what stands below", "{of: Gin, to: {family: citrus}, max: 3}"),
			newKey("min", schema.AtLeast(0), "none", "the least ratio", "{of: Gin, to: Sugar, min: 1.5}"),
			newKey("max", schema.AtLeast(0), "none", "the greatest ratio", "{of: Sugar, to: {family: citrus}, max: 1}"),
		},
		Required:     []string{"of", "to"},
		AtLeastOneOf: []string{"min", "max"},
		Mistakes: map[string]string{
			"exactly": "write min and max alike: ratio: {of: Gin, to: Vermouth, min: 2, max: 2}",
			"between": "write min and max: ratio: {of: Gin, to: Vermouth, min: 2, max: 3}",
		},
	}},
	read: readRatio,
}

// readRatio reads bounds on the ratio of the totals of two groups of ingredients.
//
//	ratio: {of: {phase: emulsifier}, to: {phase: oil}, min: 0.05, max: 0.1}
func readRatio(_ context.Context, s *readContext, n *yaml.Node, f fields) (_ []Rule, err error) {
	if err := n.Require("the ratio", "write {of: Gin, to: Vermouth, min: 2, max: 3}", "of", "to"); err != nil {
		return nil, err
	}
	var r rule.Ratio
	var of, to, words string
	if r.Of, of, err = s.ingredientsOf(f["of"]); err != nil {
		return nil, err
	}
	if r.To, to, err = s.ingredientsOf(f["to"]); err != nil {
		return nil, err
	}
	for _, key := range []string{"min", "max"} {
		if v := f[key]; v != nil && v.Kind == yaml.Text {
			return nil, yaml.Hint(v.Errorf("%s is %s", key, v.Describe()), "write a number: 2 for two to one, 0.05 for one to twenty")
		} else if v != nil {
			if _, err := v.Weight(key); err != nil {
				return nil, err
			}
		}
	}
	if r.Min, r.Max, words, err = readNumberBounds(n, f, "the ratio"); err != nil {
		return nil, err
	}
	return singleRule("ratio of "+of+" to "+to+words, r), nil
}
