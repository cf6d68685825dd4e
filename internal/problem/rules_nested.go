package problem

import (
	"context"
	"fmt"

	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/rule"
)

// ifRule reads rules that hold where an ingredient is used, or is not.
//
//	if: {used: Milk, then: {exclude: [Lemon juice]}}
//
// Of several ingredients, one that is used is enough, and unused asks that none
// is. Any rule may stand behind then, or a list of rules.
func ifRule(ctx context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	f, err := fields(n, schema.If)
	if err != nil {
		return nil, err
	}
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
			if *g.of, text, err = s.outside().ingredientsOf(v); err != nil {
				return nil, err
			}
			words += text + " " + g.key + " "
		}
	}
	rules, err := s.innerRules(ctx, f["then"], "then")
	if err != nil {
		return nil, err
	}
	for k := range rules {
		rules[k].each(func(text string) string { return words + "then " + text }, func(r rule.Rule) rule.Rule {
			when := when
			when.Then = r
			return when
		})
		rules[k].at = nil
	}
	return rules, nil
}

// innerRules reads one rule, or a list of rules, within another.
func (s *shelf) innerRules(ctx context.Context, n *yaml.Node, key string) ([]Rule, error) {
	switch {
	case n.Kind != yaml.Mapping && n.Kind != yaml.Sequence:
		return nil, yaml.Hint(n.Errorf("%s is %s", key, n.Shown()), "write a rule, such as {exclude: [Lemon juice]}, or a list of rules")
	case len(n.ItemsOrSelf()) == 0:
		return nil, yaml.Hint(n.Errorf("%s has no rule", key), "write one, such as {exclude: [Lemon juice]}")
	}
	was := s.inner
	s.inner = true
	defer func() { s.inner = was }()
	return s.rulesOf(ctx, n.ItemsOrSelf())
}

// blockRule reads a part that adds up by itself, and rules within it.
//
//	block: {of: {phase: water}, total: 700, rules: [{amount: {of: Glycerin, max: "10%"}}]}
//
// The rules know its ingredients alone, percentages are of its total, and means
// are over it.
func blockRule(ctx context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	f, err := fields(n, schema.Block)
	if err != nil {
		return nil, err
	}
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
	total, err := units(s.total, v, "the total", 1)
	if err != nil {
		return nil, err
	}
	rules := one(fmt.Sprintf("block %s total %d", text, total), rule.Group{Of: of, Total: &rule.Range{Min: total, Max: total}})
	v = f["rules"]
	if v == nil || v.Kind == yaml.Null || len(v.ItemsOrSelf()) == 0 {
		return rules, nil
	}
	was := *s
	s.total, s.block = total, &block{of, text}
	defer func() { s.total, s.block = was.total, was.block }()
	within, err := s.innerRules(ctx, v, "rules")
	if err != nil {
		return nil, err
	}
	for k := range within {
		within[k].each(func(in string) string { return in + " in the block " + text }, func(r rule.Rule) rule.Rule { return r })
	}
	return append(rules, within...), nil
}
