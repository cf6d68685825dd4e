package problem

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/problem/schema"
	"kir/internal/problem/yaml"
	"kir/rule"
)

// A ruleKind is a key that names a kind of rule.
type ruleKind struct {
	name string
	read func(ctx context.Context, s *shelf, n *yaml.Node) ([]Rule, error)
}

// ruleKinds returns the kinds of rules that there are.
func ruleKinds() []ruleKind {
	return []ruleKind{
		{"require", requireRule},
		{"exclude", excludeRule},
		{"amount", amountRule},
		{"group", groupRule},
		{"never", neverRule},
		{"needs", needsRule},
		{"limit", limitRule},
		{"limits", limitsRule},
		{"constituents", noRule}, // see readConstituents
		{"ratio", ratioRule},
		{"near", nearRule},
		{"if", ifRule},
		{"block", blockRule},
	}
}

// readRules reads the rules, and more that do not stand in the file.
func readRules(ctx context.Context, s *shelf, n *yaml.Node, more ...*yaml.Node) ([]Rule, error) {
	var items []*yaml.Node
	if n != nil && n.Kind != yaml.Null {
		var err error
		if items, err = n.List("constraints"); err != nil {
			return nil, s.bad.add(err)
		}
	}
	if err := s.readConstituents(ctx, items); err != nil {
		return nil, s.bad.add(err) // rules ask for the attributes that they make
	}
	var rules []Rule
	for _, item := range append(slices.Clip(items), more...) {
		err := s.bad.each(item, func(item *yaml.Node) error {
			some, err := s.rulesOf(ctx, []*yaml.Node{item})
			rules = append(rules, some...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// rulesOf reads rules that stand in a list.
func (s *shelf) rulesOf(ctx context.Context, items []*yaml.Node) ([]Rule, error) {
	var rules []Rule
	for _, item := range items {
		kind, v, err := s.kindOf(item)
		if err != nil {
			return nil, err
		}
		some, err := kind.read(ctx, s, v)
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			if r.at == nil {
				r.at = item
			}
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// kindOf returns the kind of a rule, and what stands under its key.
func (s *shelf) kindOf(item *yaml.Node) (kind ruleKind, v *yaml.Node, err error) {
	kinds, names := ruleKinds(), schema.Rule.Kinds()
	if err := s.nearlyRule(item, names); err != nil {
		return kind, nil, err
	}
	f, err := schema.Rule.Fields(item)
	if err != nil {
		return kind, nil, err
	}
	if len(f) != 1 {
		return kind, nil, yaml.Hint(item.Errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(names, ", "))
	}
	kind = kinds[slices.IndexFunc(kinds, func(k ruleKind) bool { return f[k.name] != nil })]
	return kind, f[kind.name], nil
}

func requireRule(_ context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	of, text, err := s.ingredientsOf(n)
	return one("require "+text, rule.Require{Of: of}), err
}

func excludeRule(_ context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	of, text, err := s.ingredientsOf(n)
	return one("exclude "+text, rule.Exclude{Of: of}), err
}

func neverRule(_ context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	of, text, err := s.ingredientsOf(n)
	if err != nil {
		return nil, err
	}
	if len(of) < 2 {
		return nil, yaml.Hint(n.Errorf("never names %s", fault.Count(len(of), "ingredient")), "name two or more, of which at most one may be used; to use none, write exclude")
	}
	return one("never "+text, rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}), nil
}

func groupRule(_ context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	f, err := fields(n, schema.Group)
	if err != nil {
		return nil, err
	}
	of, text, err := ingredientsUnder(s, n, f, "group")
	if err != nil {
		return nil, err
	}
	c := rule.Group{Of: of}
	words := ""
	if v := f["used"]; v != nil {
		items, err := pair(v, "used", "[1, 2]")
		if err != nil {
			return nil, err
		}
		r := &rule.Range{}
		if r.Min, err = items[0].Whole("the least number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Max, err = items[1].Whole("the greatest number used", 0, math.MaxInt32); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
		}
		if r.Min > len(of) {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: at least %d used of %s", r.Min, fault.Count(len(of), "ingredient")), "lower it to %d", len(of))
		}
		c.Used = r
		words += fmt.Sprintf(" used %d to %d", r.Min, r.Max)
	}
	if v := f["total"]; v != nil {
		items, err := pair(v, "total", `["30%", "70%"]`)
		if err != nil {
			return nil, err
		}
		r := &rule.Range{}
		if r.Min, err = units(s.total, items[0], "the least total", 0); err != nil {
			return nil, err
		}
		if r.Max, err = units(s.total, items[1], "the greatest total", 0); err != nil {
			return nil, err
		}
		if r.Min > r.Max {
			return nil, yaml.Hint(v.Errorf("the rule contradicts itself: a total from %d to %d units", r.Min, r.Max), "write the smaller number first")
		}
		c.Total = r
		words += fmt.Sprintf(" total %d to %d", r.Min, r.Max)
	}
	if words == "" {
		return nil, yaml.Hint(n.Errorf("the rule bounds nothing"), "add used or total")
	}
	return one("group "+text+words, c), nil
}

func needsRule(_ context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	f, err := fields(n, schema.Needs)
	if err != nil {
		return nil, err
	}
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return nil, err
	}
	first, name, err := s.ingredientsOf(f["if"])
	if err != nil {
		return nil, err
	}
	if len(first) != 1 {
		return nil, yaml.Hint(f["if"].Errorf("the rule begins with %s", fault.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := s.ingredientsOf(f["then"])
	if err != nil {
		return nil, err
	}
	return one(name+" needs "+text, rule.Need{If: first[0], Then: then}), nil
}
