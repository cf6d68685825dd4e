package compile

import (
	"context"

	"kir/internal/config"
	"kir/internal/constraint"
	"kir/rule"
)

// A Rule is a demand that one of the constraints of the problem makes.
type Rule struct {
	config.Demand
	ConstraintIndex  int  // index of the constraint in the list under "constraints" in the file; −1 if it is not in the file
	IsOnlyRuleOfItem bool // whether no other rule comes from that constraint
}

// Slacks returns how far a composition is from the bounds of the rule. It returns nil if the demand has several
// rules, because a composition is then always near a bound of one of them.
func (r *Rule) Slacks(parts []rule.Part, total int) []constraint.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return constraint.Slacks(r.Rules[0], parts, total)
}

// compileRules compiles constraints. The first fileEntryCount entries are in the file; options have added the
// others.
func compileRules(ctx context.Context, s *loader, entries []*config.Entry[config.Item], fileEntryCount int) (rules []Rule, err error) {
	if err := s.ReadConstituents(ctx, entries); err != nil {
		return nil, s.diagnostics.Add(err) // rules use these attributes
	}
	kinds := s.kinds.configKinds()
	for k, e := range entries {
		if k >= fileEntryCount {
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
