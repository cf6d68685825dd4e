package problem

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"kir/fault"
	"kir/problem/yaml"
	"kir/rule"
)

// A ruleKind is a key that names a kind of rule.
type ruleKind struct {
	name string
	form string // what stands under the key, such as messages show it
	read func(ctx context.Context, s *shelf, n *yaml.Node) ([]Rule, error)
}

// ruleKinds returns the kinds of rules that there are.
func ruleKinds() []ruleKind {
	return []ruleKind{
		{"require", "[Gin]", requireRule},
		{"exclude", "[Egg]", excludeRule},
		{"amount", `{of: Gin, min: 20, max: "40%"}`, amountRule},
		{"group", `{of: [Gin, Vodka], used: [1, 1], total: ["30%", "70%"]}`, groupRule},
		{"never", "[Milk, Lemon juice]", neverRule},
		{"needs", "{if: Egg white, then: [Lemon juice, Lime juice]}", needsRule},
		{"limit", "{attribute: abv, min: 10, max: 25}", limitRule},
		{"limits", "{file: limits.csv}", limitsRule},
		{"constituents", "{file: constituents.csv}", noRule}, // see readConstituents
		{"ratio", "{of: Gin, to: Vermouth, min: 2, max: 3}", ratioRule},
		{"near", "{recipe: Negroni, changes: 2}", nearRule},
		{"if", "{used: Milk, then: {exclude: [Lemon juice]}}", ifRule},
		{"block", "{of: {phase: water}, total: 700, rules: []}", blockRule},
	}
}

// A Rule is one of the problem's constraints.
type Rule struct {
	Text  string      // in words
	Rules []rule.Rule // what it says: one rule, or several, as one for each ingredient's doses

	texts []string // of several, in words
	at    *yaml.Node
}

// Slacks returns how far a composition is from the bounds of the rule; nothing of
// several rules, of which one is always near.
func (r *Rule) Slacks(parts []rule.Part, total int) []rule.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return rule.Slacks(r.Rules[0], parts, total)
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

// readRules reads the rules, and more that do not stand in the file.
func readRules(ctx context.Context, s *shelf, n *yaml.Node, more ...*yaml.Node) ([]Rule, error) {
	var items []*yaml.Node
	if n != nil && n.Kind != yaml.Null {
		var err error
		if items, err = n.List("constraints"); err != nil {
			return nil, err
		}
	}
	if err := s.readConstituents(ctx, items); err != nil {
		return nil, err
	}
	return s.rulesOf(ctx, append(slices.Clip(items), more...))
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
	kinds := ruleKinds()
	names := make([]string, len(kinds))
	for k, kind := range kinds {
		names[k] = kind.name
	}
	if err := s.nearlyRule(item, names); err != nil {
		return kind, nil, err
	}
	f, err := item.Fields("a rule", names...)
	if err != nil {
		return kind, nil, err
	}
	if len(f) != 1 {
		return kind, nil, yaml.Hint(item.Errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(names, ", "))
	}
	kind = kinds[slices.Index(names, item.Entries[0].Key.Text)]
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
	f, err := fields(n, "group", "of", "used", "total")
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
	f, err := fields(n, "needs", "if", "then")
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

// ingredientsUnder reads the ingredients that an amount or a group is about.
func ingredientsUnder(s *shelf, n *yaml.Node, f map[string]*yaml.Node, what string) ([]int, string, error) {
	if f["of"] == nil {
		return nil, "", yaml.Hint(n.Errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return s.ingredientsOf(f["of"])
}

func pair(n *yaml.Node, what, example string) ([]*yaml.Node, error) {
	items, err := n.List(what)
	if err != nil {
		return nil, err
	}
	if len(items) != 2 {
		return nil, yaml.Hint(n.Errorf("%s has %s", what, fault.Count(len(items), "number")), "write the least and the greatest, such as %s", example)
	}
	return items, nil
}
