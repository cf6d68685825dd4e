package compile

import (
	"context"

	"kir/internal/config"
	"kir/internal/constraint"
	"kir/rule"
)

// A Rule is one of the constraints of the problem.
type Rule struct {
	config.Demand
	ConstraintIndex  int  // index of its item under constraints in the file; −1 if the rule is not in the file
	IsOnlyRuleOfItem bool // whether the item of the file has no other rule
}

// Slacks returns the distances of a composition from the bounds of the rule. It returns nil if the constraint
// consists of several rules, because a composition is always near a bound of one of them.
func (r *Rule) Slacks(parts []rule.Part, total int) []constraint.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return constraint.Slacks(r.Rules[0], parts, total)
}

// compileRules compiles constraints. Of the entries, the first ones, as many as listed, are in the file; the
// options added the others.
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
				rules = append(rules, Rule{Demand: d, ConstraintIndex: k, IsOnlyRuleOfItem: len(demands) == 1 && d.Node == item.Node && len(d.Rules) == 1})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}
