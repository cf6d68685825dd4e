package problem

import (
	"context"
	"slices"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/constraint"
	"kir/rule"
)

// A Rule is one of the problem's constraints.
type Rule struct {
	config.Demand
	Place int  // index of its item in the constraints; −1: not in the file
	Alone bool // the item has only this one rule
}

// Slacks returns how far a composition is from the bounds of the rule. It returns nil if there are several
// rules, because one of them is always near its bounds.
func (r *Rule) Slacks(parts []rule.Part, total int) []constraint.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return constraint.Slacks(r.Rules[0], parts, total)
}

// compileRules compiles the constraints of the file, and further ones that are not in it.
func compileRules(ctx context.Context, s *loader, n *yaml.Node, more ...*yaml.Node) ([]Rule, error) {
	var items []*yaml.Node
	if n != nil && n.Kind != yaml.Null {
		var err error
		if items, err = n.List("constraints"); err != nil {
			return nil, s.diagnostics.Add(err)
		}
	}
	if err := s.ReadConstituents(ctx, items); err != nil {
		return nil, s.diagnostics.Add(err) // rules use these attributes
	}
	var rules []Rule
	for k, item := range append(slices.Clip(items), more...) {
		if k >= len(items) {
			k = -1
		}
		err := s.diagnostics.Collect(item, func(n *yaml.Node) error {
			item, err := s.kinds.constraints.DecodeItem(n)
			if err != nil {
				return err
			}
			demands, err := s.CompileItem(ctx, s.kinds.constraints, item)
			for _, d := range demands {
				rules = append(rules, Rule{Demand: d, Place: k, Alone: len(demands) == 1 && d.At == n && len(d.Rules) == 1})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}
