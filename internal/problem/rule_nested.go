package problem

import (
	"context"
	"fmt"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

var ifKind = ruleKind{
	Key: newKey("if", schema.Link("if"), "", "rules that hold on a condition", "{if: {used: Milk, then: {exclude: [Lemon juice]}}}"),
	Sections: schema.Sections{{
		Name: "if", ID: "if", About: "Of `used` one that is used is enough; `unused` asks that none is; with both, both must hold.",
		Keys: []schema.Key{
			newKey("used", schema.Ingredients(), "", "any of these is used", "{used: Milk, then: {exclude: [Lemon juice]}}"),
			newKey("unused", schema.Ingredients(), "", "none of these is used", "{unused: [Gin, Vodka], then: {require: [Vermouth]}}"),
			newKey("then", innerType(1), "", "what holds then", "{used: Milk, then: [{exclude: [Lime juice]}, {amount: {of: Sugar, min: 50}}]}"),
		},
		Required:     []string{"then"},
		AtLeastOneOf: []string{"used", "unused"},
		Mistakes: map[string]string{
			"if":         "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
			"not":        "write unused: if: {unused: Milk, then: {require: [Cream]}}",
			"exclude":    "write it behind then: if: {used: Milk, then: {exclude: [Lemon juice]}}",
			"require":    "write it behind then: if: {used: Milk, then: {require: [Sugar]}}",
			"else":       "write a second rule: if: {unused: Milk, then: {require: [Cream]}}",
			"ingredient": "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}},
	read: readIf,
}

// innerType is the type of a rule within another one, or of a list of such rules.
func innerType(least int) schema.Type {
	one := schema.Link("rule")
	one.Schema["not"] = schema.Object{"required": []string{"constituents"}}
	return schema.OneOrMore(one, least)
}

// readIf reads rules that apply if an ingredient is used, or if it is not.
//
//	if: {used: Milk, then: {exclude: [Lemon juice]}}
//
// used means that at least one of several ingredients is used, and unused that none is. then has a rule or
// a list of rules.
func readIf(ctx context.Context, s *readContext, n *yaml.Node, f fields) (_ []Rule, err error) {
	const form = "write {used: Milk, then: {exclude: [Lemon juice]}}"
	if f["used"] == nil && f["unused"] == nil {
		return nil, yaml.Hint(n.Errorf("the rule has no condition: used or unused is missing"), form)
	}
	if err := n.Require("if", form, "then"); err != nil {
		return nil, err
	}
	var when rule.If
	words := "if "
	for _, g := range []struct {
		key string
		of  *[]int
	}{{"used", &when.Used}, {"unused", &when.Unused}} {
		if v := f[g.key]; v != nil {
			var text string
			if *g.of, text, err = s.withoutBlock().ingredientsOf(v); err != nil {
				return nil, err
			}
			words += text + " " + g.key + " "
		}
	}
	rules, err := s.readInnerRules(ctx, f["then"], "then")
	if err != nil {
		return nil, err
	}
	for k := range rules {
		rules[k].transform(func(text string) string { return words + "then " + text }, func(r rule.Rule) rule.Rule {
			when := when
			when.Then = r
			return when
		})
		rules[k].at = nil
	}
	return rules, nil
}

// readInnerRules reads one rule, or a list of rules, within another.
func (s *readContext) readInnerRules(ctx context.Context, n *yaml.Node, key string) ([]Rule, error) {
	switch {
	case n.Kind != yaml.Mapping && n.Kind != yaml.Sequence:
		return nil, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write a rule, such as {exclude: [Lemon juice]}, or a list of rules")
	case len(n.ItemsOrSelf()) == 0:
		return nil, yaml.Hint(n.Errorf("%s has no rule", key), "write one, such as {exclude: [Lemon juice]}")
	}
	was := s.inRule
	s.inRule = true
	defer func() { s.inRule = was }()
	return s.readRuleList(ctx, n.ItemsOrSelf())
}

var blockKind = ruleKind{
	Key: newKey("block", schema.Link("block"), "", "a part that adds up by itself", "{block: {of: {phase: water}, total: 700, rules: []}}"),
	Sections: schema.Sections{{
		Name: "block", ID: "block", About: "Rules within a block know its ingredients alone; percentages and means are of it.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "the members", "{of: {phase: water}, total: 700}"),
			newKey("total", schema.Units(1), "", "what they add up to", "{of: {phase: oil}, total: \"40%\"}"),
			newKey("rules", schema.Optional(innerType(0)), "none", "rules within it", "{of: {phase: water}, total: 700, rules: [{amount: {of: Lemon juice, max: \"30%\"}}]}"),
		},
		Required: []string{"of", "total"},
		Mistakes: map[string]string{
			"min": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
			"max": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
		},
	}},
	read: readBlock,
}

// readBlock reads a block: ingredients with a total of their own, and rules within it.
//
//	block: {of: {phase: water}, total: 700, rules: [{amount: {of: Glycerin, max: "10%"}}]}
//
// The rules see only the ingredients of the block. Percentages refer to its total, and means are over it.
func readBlock(ctx context.Context, s *readContext, n *yaml.Node, f fields) ([]Rule, error) {
	of, text, err := ingredientsUnder(s, n, f, "block")
	if err != nil {
		return nil, err
	}
	v := f["total"]
	switch {
	case v == nil:
		return nil, yaml.Hint(n.Errorf("the block has no total"), `add total: what its ingredients add up to, such as 700 or "70%%"`)
	case v.Kind == yaml.Sequence:
		return nil, yaml.Hint(v.Errorf("a block adds up to one total"), "for a range of totals write group: {of: ..., total: [600, 700]}")
	}
	total, err := readUnits(s.total, v, "the total", 1)
	if err != nil {
		return nil, err
	}
	rules := singleRule(fmt.Sprintf("block %s total %d", text, total), rule.Group{Of: of, Total: &rule.Range{Min: total, Max: total}})
	v = f["rules"]
	if v == nil || v.Kind == yaml.Null || len(v.ItemsOrSelf()) == 0 {
		return rules, nil
	}
	was := *s
	s.total, s.block = total, &block{of, text}
	defer func() { s.total, s.block = was.total, was.block }()
	within, err := s.readInnerRules(ctx, v, "rules")
	if err != nil {
		return nil, err
	}
	for k := range within {
		within[k].transform(func(in string) string { return in + " in the block " + text }, func(r rule.Rule) rule.Rule { return r })
	}
	return append(rules, within...), nil
}
