package compile

import (
	"context"

	"kir/internal/config"
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

// compileRules compiles the constraints of a file. Those after the first listed ones are not in it.
func compileRules(ctx context.Context, s *loader, entries []*config.Entry[config.Item], listed int) (rules []Rule, err error) {
	if err := s.ReadConstituents(ctx, entries); err != nil {
		return nil, s.diagnostics.Add(err) // rules use these attributes
	}
	kinds := s.kinds.fileKinds()
	for k, e := range entries {
		if k >= listed {
			k = -1
		}
		err := e.Compile(s.diagnostics, func(item config.Item) error {
			demands, err := s.CompileItem(ctx, kinds, item)
			for _, d := range demands {
				rules = append(rules, Rule{Demand: d, Place: k, Alone: len(demands) == 1 && d.At == item.At && len(d.Rules) == 1})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}
