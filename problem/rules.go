package problem

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"kir/fault"
	"kir/problem/schema"
	"kir/problem/yaml"
	"kir/rule"
)

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

// readRules reads the rules, and more that do not stand in the file.
func readRules(s *shelf, n *yaml.Node, more ...*yaml.Node) ([]Rule, error) {
	var items []*yaml.Node
	if n != nil && n.Kind != yaml.Null {
		var err error
		if items, err = n.List("constraints"); err != nil {
			return nil, err
		}
	}
	var rules []Rule
	for _, item := range append(slices.Clip(items), more...) {
		f, err := schema.Rule.Fields(item)
		if err != nil {
			return nil, err
		}
		if len(f) != 1 {
			return nil, yaml.Hint(item.Errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(schema.Rule.Kinds(), ", "))
		}
		for kind, v := range f {
			r, err := readRule(s, kind, v)
			if err != nil {
				return nil, err
			}
			r.at = item
			rules = append(rules, r)
		}
	}
	return rules, nil
}

func readRule(s *shelf, kind string, n *yaml.Node) (Rule, error) {
	switch kind {
	case "require", "exclude":
		of, text, err := s.ingredientsOf(n)
		if err != nil {
			return Rule{}, err
		}
		r := Rule{Text: kind + " " + text, Rules: []rule.Rule{rule.Require{Of: of}}}
		if kind == "exclude" {
			r.Rules[0] = rule.Exclude{Of: of}
		}
		return r, nil
	case "never":
		of, text, err := s.ingredientsOf(n)
		if err != nil {
			return Rule{}, err
		}
		if len(of) < 2 {
			return Rule{}, yaml.Hint(n.Errorf("never names %s", fault.Count(len(of), "ingredient")), "name two or more, of which at most one may be used; to use none, write exclude")
		}
		return Rule{Text: "never " + text, Rules: []rule.Rule{rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}}}, nil
	case "amount":
		if n.Get("within") != nil {
			return withinRule(s, n)
		}
		return amountRule(s, n)
	case "group":
		return groupRule(s, n)
	case "needs":
		return needsRule(s, n)
	}
	return limitRule(s, n)
}

func amountRule(s *shelf, n *yaml.Node) (Rule, error) {
	f, err := schema.Amount.Fields(n)
	if err != nil {
		return Rule{}, err
	}
	of, text, err := ingredientsUnder(s, n, f, "amount")
	if err != nil {
		return Rule{}, err
	}
	c := rule.Amount{Of: of}
	words := ""
	for _, b := range []struct {
		key   string
		value *int
	}{{"min", &c.Min}, {"max", &c.Max}, {"step", &c.Step}} {
		if v := f[b.key]; v != nil {
			if *b.value, err = units(s.total, v, b.key, 1); err != nil {
				return Rule{}, err
			}
			words += fmt.Sprintf(" %s %d", b.key, *b.value)
		}
	}
	if words == "" {
		return Rule{}, yaml.Hint(n.Errorf("the rule bounds nothing"), "add min, max or step")
	}
	if c.Step > 1 && s.total > maxSplits {
		return Rule{}, yaml.Hint(f["step"].Errorf("steps in a total of %d units leave too many ways to share them to keep", s.total), "take a total of at most %d, in units of the step", maxSplits)
	}
	if c.Max > 0 && c.Min > c.Max {
		return Rule{}, yaml.Hint(n.Errorf("the rule contradicts itself: min is %d units and max %d", c.Min, c.Max), "raise max, or lower min to %d", c.Max)
	}
	if c.Max > 0 && c.Min == 0 && c.Step > c.Max {
		return Rule{}, yaml.Hint(n.Errorf("the rule contradicts itself: the step is %d units and max %d", c.Step, c.Max), "lower the step to %d or raise max to %d", c.Max, c.Step)
	}
	return Rule{Text: "amount of " + text + words, Rules: []rule.Rule{c}}, nil
}

func groupRule(s *shelf, n *yaml.Node) (Rule, error) {
	f, err := schema.Group.Fields(n)
	if err != nil {
		return Rule{}, err
	}
	of, text, err := ingredientsUnder(s, n, f, "group")
	if err != nil {
		return Rule{}, err
	}
	c := rule.Group{Of: of}
	words := ""
	if v := f["used"]; v != nil {
		items, err := pair(v, "used", "[1, 2]")
		if err != nil {
			return Rule{}, err
		}
		r := &rule.Range{}
		if r.Min, err = items[0].Whole("the least number used", 0, math.MaxInt32); err != nil {
			return Rule{}, err
		}
		if r.Max, err = items[1].Whole("the greatest number used", 0, math.MaxInt32); err != nil {
			return Rule{}, err
		}
		if r.Min > r.Max {
			return Rule{}, yaml.Hint(v.Errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
		}
		if r.Min > len(of) {
			return Rule{}, yaml.Hint(v.Errorf("the rule contradicts itself: at least %d used of %s", r.Min, fault.Count(len(of), "ingredient")), "lower it to %d", len(of))
		}
		c.Used = r
		words += fmt.Sprintf(" used %d to %d", r.Min, r.Max)
	}
	if v := f["total"]; v != nil {
		items, err := pair(v, "total", `["30%", "70%"]`)
		if err != nil {
			return Rule{}, err
		}
		r := &rule.Range{}
		if r.Min, err = units(s.total, items[0], "the least total", 0); err != nil {
			return Rule{}, err
		}
		if r.Max, err = units(s.total, items[1], "the greatest total", 0); err != nil {
			return Rule{}, err
		}
		if r.Min > r.Max {
			return Rule{}, yaml.Hint(v.Errorf("the rule contradicts itself: a total from %d to %d units", r.Min, r.Max), "write the smaller number first")
		}
		c.Total = r
		words += fmt.Sprintf(" total %d to %d", r.Min, r.Max)
	}
	if words == "" {
		return Rule{}, yaml.Hint(n.Errorf("the rule bounds nothing"), "add used or total")
	}
	return Rule{Text: "group " + text + words, Rules: []rule.Rule{c}}, nil
}

func needsRule(s *shelf, n *yaml.Node) (Rule, error) {
	f, err := schema.Needs.Fields(n)
	if err != nil {
		return Rule{}, err
	}
	if err := n.Require("needs", "write {if: Egg white, then: [Lemon juice, Lime juice]}", "if", "then"); err != nil {
		return Rule{}, err
	}
	first, name, err := s.ingredientsOf(f["if"])
	if err != nil {
		return Rule{}, err
	}
	if len(first) != 1 {
		return Rule{}, yaml.Hint(f["if"].Errorf("the rule begins with %s", fault.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := s.ingredientsOf(f["then"])
	if err != nil {
		return Rule{}, err
	}
	return Rule{Text: name + " needs " + text, Rules: []rule.Rule{rule.Need{If: first[0], Then: then}}}, nil
}

func limitRule(s *shelf, n *yaml.Node) (Rule, error) {
	f, err := schema.Limit.Fields(n)
	if err != nil {
		return Rule{}, err
	}
	if f["attribute"] == nil {
		return Rule{}, yaml.Hint(n.Errorf("the limit names no attribute"), "write {attribute: abv, min: 10, max: 25}")
	}
	name, err := f["attribute"].Str("the attribute")
	if err != nil {
		return Rule{}, err
	}
	values, err := s.attributeNumbers(f["attribute"], name)
	if err != nil {
		return Rule{}, err
	}
	limit := rule.Limit{Attribute: name, Factors: values, Min: math.Inf(-1), Max: math.Inf(1)}
	words := ""
	for _, b := range []struct {
		key   string
		value *float64
	}{{"min", &limit.Min}, {"max", &limit.Max}} {
		if v := f[b.key]; v != nil {
			if *b.value, err = v.Float(b.key); err != nil {
				return Rule{}, err
			}
			words += fmt.Sprintf(" %s %v", b.key, *b.value)
		}
	}
	if words == "" {
		return Rule{}, yaml.Hint(n.Errorf("the limit bounds nothing"), "add min or max")
	}
	if limit.Min > limit.Max {
		return Rule{}, yaml.Hint(n.Errorf("the rule contradicts itself: min is %v and max %v", limit.Min, limit.Max), "swap them")
	}
	return Rule{Text: "limit of " + name + words, Rules: []rule.Rule{limit}}, nil
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

// units reads a number of units, or a percentage of the total that is one.
func units(total int, n *yaml.Node, what string, least int) (int, error) {
	if n.Kind != yaml.Text {
		return n.Whole(what, least, total)
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	share, ok := new(big.Rat).SetString(strings.TrimSpace(digits))
	if !percent || !ok || len(digits) > 30 || strings.ContainsAny(digits, "/eExX_") {
		return 0, yaml.Hint(n.Errorf("%s is %s", what, n.Shown()), `write a number of units or a percentage such as "20%%"`)
	}
	amount := new(big.Rat).Mul(share, big.NewRat(int64(total), 100))
	if amount.Cmp(new(big.Rat).SetInt64(int64(least))) < 0 || amount.Cmp(new(big.Rat).SetInt64(int64(total))) > 0 {
		return 0, yaml.Hint(n.Errorf("%s is %s of %d units", what, n.Shown(), total), "it must be from %d units to 100 %%", least)
	}
	if !amount.IsInt() {
		down := new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()
		near := func(u int64) string {
			return strings.TrimSuffix(strings.TrimRight(new(big.Rat).SetFrac64(100*u, int64(total)).FloatString(6), "0"), ".") + "%"
		}
		return 0, yaml.Hint(n.Errorf("%s is %s, which is %s of %d units and not a whole number", what, n.Shown(), strings.TrimRight(amount.FloatString(4), "0"), total),
			"write %s or %s, or take a finer total", near(down), near(down+1))
	}
	return int(amount.Num().Int64()), nil
}
