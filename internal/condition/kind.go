package condition

import "kir/rule"

// A kind is what a rule comes to.
type kind interface {
	// conditions adds what the rule comes to.
	conditions(c *Conditions)

	// slacks are as Slacks says.
	slacks(parts []rule.Part, total int) []Slack
}

// kindOf returns the kind of a rule, nil for one that package rule does not have.
func kindOf(r rule.Rule) kind {
	switch r := r.(type) {
	case rule.Require:
		return requireRule(r)
	case rule.Exclude:
		return excludeRule(r)
	case rule.Amount:
		return amountRule(r)
	case rule.Group:
		return groupRule(r)
	case rule.Need:
		return needRule(r)
	case rule.Limit:
		return limitRule(r)
	case rule.Ratio:
		return ratioRule(r)
	case rule.Near:
		return nearRule(r)
	case rule.If:
		return ifRule(r)
	}
	return nil
}
