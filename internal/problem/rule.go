package problem

import (
	"kir/internal/condition"
	"kir/internal/fault"
	"kir/internal/problem/yaml"
	"kir/rule"
)

// A Rule is one of the problem's constraints.
type Rule struct {
	Text  string      // in words
	Rules []rule.Rule // what it says: one rule, or several, as one for each ingredient's doses
	Stock map[int]int // how much there is of ingredients, in units; nil: the rule is no stock

	texts []string // of several, in words

	predicted *predictedLimit // of what a property predicts, which is no rule of amounts; else nil
	at        *yaml.Node
}

// Slacks returns how far a composition is from the bounds of the rule; nothing of
// several rules, of which one is always near.
func (r *Rule) Slacks(parts []rule.Part, total int) []condition.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return condition.Slacks(r.Rules[0], parts, total)
}

// one returns a rule as a list.
func one(text string, r rule.Rule) []Rule { return []Rule{{Text: text, Rules: []rule.Rule{r}}} }

// add puts one more of several into a rule.
func (r *Rule) add(one rule.Rule, text string) {
	r.Rules, r.texts = append(r.Rules, one), append(r.texts, text)
}

// each changes what a rule says, and its words.
func (r *Rule) each(text func(string) string, change func(rule.Rule) rule.Rule) {
	r.Text = text(r.Text)
	for k := range r.texts {
		r.texts[k] = text(r.texts[k])
	}
	for k := range r.Rules {
		r.Rules[k] = change(r.Rules[k])
	}
}

// ingredientsUnder reads the ingredients that an amount or a group is about.
func ingredientsUnder(s *shelf, n *yaml.Node, f map[string]*yaml.Node, what string) ([]int, string, error) {
	if f["of"] == nil {
		return nil, "", yaml.Hint(n.Errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return s.ingredientsOf(f["of"])
}

func pair(n *yaml.Node, what, example string) ([]*yaml.Node, error) {
	if n.Kind != yaml.Sequence {
		return nil, yaml.Hint(n.Errorf("%s is %s", what, n.Shown()), "write the least and the greatest, such as %s", example)
	}
	items := n.Items
	if len(items) != 2 {
		return nil, yaml.Hint(n.Errorf("%s has %s", what, fault.Count(len(items), "number")), "write the least and the greatest, such as %s", example)
	}
	return items, nil
}
