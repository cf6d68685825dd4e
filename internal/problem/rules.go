package problem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

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
		some, err := kind.readAt(ctx, s, v)
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
func (s *shelf) kindOf(item *yaml.Node) (kind *ruleKind, v *yaml.Node, err error) {
	section := s.kinds.schema().Rule()
	if err := s.nearlyRule(item, section.One); err != nil {
		return nil, nil, err
	}
	f, err := section.Fields(item)
	if err != nil {
		return nil, nil, err
	}
	if len(f) != 1 {
		return nil, nil, yaml.Hint(item.Errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(section.One, ", "))
	}
	for name, at := range f {
		kind, v = s.kinds.rule(name), at
	}
	return kind, v, nil
}

// readAt reads what stands under the key of a kind, and shows the right form of what is
// nearly right.
func (k *ruleKind) readAt(ctx context.Context, s *shelf, n *yaml.Node) ([]Rule, error) {
	if len(k.Sections) == 0 {
		return k.read(ctx, s, n, nil)
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("%s is %s", k.Name, n.Shown()), "write %s", k.Form())
	}
	section := k.Sections[0]
	f, err := section.Fields(n)
	if bad, ok := err.(*fault.Error); ok {
		switch key, known := unknown(n, section.Names()), section.Names(); {
		case section.Nearly[key] != "":
		case fault.DidYouMean(key, known) == "":
			bad.Hint = fmt.Sprintf("it has %s: %s", fault.List(known, 8), k.Form())
		default:
			bad.Hint += " Write, for example, " + k.Form()
		}
	}
	if err != nil {
		return nil, err
	}
	return k.read(ctx, s, n, f)
}
