package problem

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"kir/fault"
	"kir/rule"
)

// ruleKinds are the keys that name a kind of rule.
var ruleKinds = []string{"require", "exclude", "amount", "group", "never", "needs", "limit"}

// A Rule is one of the problem's constraints.
type Rule struct {
	Text  string      // in words
	Rules []rule.Rule // what it says: one rule, or several, as one for each ingredient's doses

	texts []string // of several, in words
	at    *node
}

// Slacks returns how far a composition is from the bounds of the rule; nothing of
// several rules, of which one is always near.
func (r *Rule) Slacks(parts []rule.Part, total int) []rule.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return rule.Slacks(r.Rules[0], parts, total)
}

// readConstraints reads the rules.
func (l *loader) readConstraints() error {
	var items []*node
	if n := l.fields["constraints"]; n != nil && n.kind != null {
		var err error
		if items, err = n.list("constraints"); err != nil {
			return err
		}
	}
	if l.options.Within {
		items = append(slices.Clip(items), withinAll(l.root))
	}
	for _, item := range items {
		f, err := item.fields("a rule", ruleKinds...)
		if err != nil {
			return err
		}
		if len(f) != 1 {
			return hint(item.errorf("a rule names %s", fault.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(ruleKinds, ", "))
		}
		for kind, v := range f {
			r, err := l.rule(kind, v)
			if err != nil {
				return err
			}
			r.at = item
			l.problem.Rules = append(l.problem.Rules, r)
		}
	}
	return l.warnRules()
}

func (l *loader) rule(kind string, n *node) (Rule, error) {
	switch kind {
	case "require", "exclude":
		of, text, err := l.ingredientsOf(n)
		if err != nil {
			return Rule{}, err
		}
		r := Rule{Text: kind + " " + text, Rules: []rule.Rule{rule.Require{Of: of}}}
		if kind == "exclude" {
			r.Rules[0] = rule.Exclude{Of: of}
		}
		return r, nil
	case "never":
		of, text, err := l.ingredientsOf(n)
		if err != nil {
			return Rule{}, err
		}
		if len(of) < 2 {
			return Rule{}, hint(n.errorf("never names %s", fault.Count(len(of), "ingredient")), "name two or more, of which at most one may be used; to use none, write exclude")
		}
		return Rule{Text: "never " + text, Rules: []rule.Rule{rule.Group{Of: of, Used: &rule.Range{Min: 0, Max: 1}}}}, nil
	case "amount":
		if n.get("within") != nil {
			return l.withinRule(n)
		}
		return l.amountRule(n)
	case "group":
		return l.groupRule(n)
	case "needs":
		return l.needsRule(n)
	}
	return l.limitRule(n)
}

func (l *loader) amountRule(n *node) (Rule, error) {
	f, err := n.fields("amount", "of", "min", "max", "step", "within")
	if err != nil {
		return Rule{}, err
	}
	of, text, err := l.of(n, f, "amount")
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
			if *b.value, err = l.amount(v, b.key, 1); err != nil {
				return Rule{}, err
			}
			words += fmt.Sprintf(" %s %d", b.key, *b.value)
		}
	}
	if words == "" {
		return Rule{}, hint(n.errorf("the rule bounds nothing"), "add min, max or step")
	}
	if c.Step > 1 && l.problem.Total > mostSplits {
		return Rule{}, hint(f["step"].errorf("steps in a total of %d units leave too many ways to share them to keep", l.problem.Total), "take a total of at most %d, in units of the step", mostSplits)
	}
	if c.Max > 0 && c.Min > c.Max {
		return Rule{}, hint(n.errorf("the rule contradicts itself: min is %d units and max %d", c.Min, c.Max), "raise max, or lower min to %d", c.Max)
	}
	if c.Max > 0 && c.Min == 0 && c.Step > c.Max {
		return Rule{}, hint(n.errorf("the rule contradicts itself: the step is %d units and max %d", c.Step, c.Max), "lower the step to %d or raise max to %d", c.Max, c.Step)
	}
	return Rule{Text: "amount of " + text + words, Rules: []rule.Rule{c}}, nil
}

func (l *loader) groupRule(n *node) (Rule, error) {
	f, err := n.fields("group", "of", "used", "total")
	if err != nil {
		return Rule{}, err
	}
	of, text, err := l.of(n, f, "group")
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
		if r.Min, err = items[0].whole("the least number used", 0, math.MaxInt32); err != nil {
			return Rule{}, err
		}
		if r.Max, err = items[1].whole("the greatest number used", 0, math.MaxInt32); err != nil {
			return Rule{}, err
		}
		if r.Min > r.Max {
			return Rule{}, hint(v.errorf("the rule contradicts itself: used from %d to %d", r.Min, r.Max), "write the smaller number first")
		}
		if r.Min > len(of) {
			return Rule{}, hint(v.errorf("the rule contradicts itself: at least %d used of %s", r.Min, fault.Count(len(of), "ingredient")), "lower it to %d", len(of))
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
		if r.Min, err = l.amount(items[0], "the least total", 0); err != nil {
			return Rule{}, err
		}
		if r.Max, err = l.amount(items[1], "the greatest total", 0); err != nil {
			return Rule{}, err
		}
		if r.Min > r.Max {
			return Rule{}, hint(v.errorf("the rule contradicts itself: a total from %d to %d units", r.Min, r.Max), "write the smaller number first")
		}
		c.Total = r
		words += fmt.Sprintf(" total %d to %d", r.Min, r.Max)
	}
	if words == "" {
		return Rule{}, hint(n.errorf("the rule bounds nothing"), "add used or total")
	}
	return Rule{Text: "group " + text + words, Rules: []rule.Rule{c}}, nil
}

func (l *loader) needsRule(n *node) (Rule, error) {
	f, err := n.fields("needs", "if", "then")
	if err != nil {
		return Rule{}, err
	}
	for _, key := range []string{"if", "then"} {
		if f[key] == nil {
			return Rule{}, hint(n.errorf("needs has no %s", key), "write {if: Egg white, then: [Lemon juice, Lime juice]}")
		}
	}
	first, name, err := l.ingredientsOf(f["if"])
	if err != nil {
		return Rule{}, err
	}
	if len(first) != 1 {
		return Rule{}, hint(f["if"].errorf("the rule begins with %s", fault.Count(len(first), "ingredient")), "write a rule for each")
	}
	then, text, err := l.ingredientsOf(f["then"])
	if err != nil {
		return Rule{}, err
	}
	return Rule{Text: name + " needs " + text, Rules: []rule.Rule{rule.Need{If: first[0], Then: then}}}, nil
}

func (l *loader) limitRule(n *node) (Rule, error) {
	f, err := n.fields("limit", "attribute", "min", "max")
	if err != nil {
		return Rule{}, err
	}
	if f["attribute"] == nil {
		return Rule{}, hint(n.errorf("the limit names no attribute"), "write {attribute: abv, min: 10, max: 25}")
	}
	name, err := f["attribute"].str("the attribute")
	if err != nil {
		return Rule{}, err
	}
	values, err := l.attributeNumbers(f["attribute"], name)
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
			if *b.value, err = v.float(b.key); err != nil {
				return Rule{}, err
			}
			words += fmt.Sprintf(" %s %v", b.key, *b.value)
		}
	}
	if words == "" {
		return Rule{}, hint(n.errorf("the limit bounds nothing"), "add min or max")
	}
	if limit.Min > limit.Max {
		return Rule{}, hint(n.errorf("the rule contradicts itself: min is %v and max %v", limit.Min, limit.Max), "swap them")
	}
	return Rule{Text: "limit of " + name + words, Rules: []rule.Rule{limit}}, nil
}

// of reads the ingredients that an amount or a group is about.
func (l *loader) of(n *node, f map[string]*node, what string) ([]int, string, error) {
	if f["of"] == nil {
		return nil, "", hint(n.errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return l.ingredientsOf(f["of"])
}

func pair(n *node, what, example string) ([]*node, error) {
	items, err := n.list(what)
	if err != nil {
		return nil, err
	}
	if len(items) != 2 {
		return nil, hint(n.errorf("%s has %s", what, fault.Count(len(items), "number")), "write the least and the greatest, such as %s", example)
	}
	return items, nil
}

// amount reads a number of units, or a percentage of the total that is one.
func (l *loader) amount(n *node, what string, least int) (int, error) {
	total := l.problem.Total
	if n.kind != text {
		return n.whole(what, least, total)
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(n.text), "%")
	share, ok := new(big.Rat).SetString(strings.TrimSpace(digits))
	if !percent || !ok || len(digits) > 30 || strings.ContainsAny(digits, "/eExX_") {
		return 0, hint(n.errorf("%s is %s", what, n.shown()), `write a number of units or a percentage such as "20%%"`)
	}
	units := new(big.Rat).Mul(share, big.NewRat(int64(total), 100))
	if units.Cmp(new(big.Rat).SetInt64(int64(least))) < 0 || units.Cmp(new(big.Rat).SetInt64(int64(total))) > 0 {
		return 0, hint(n.errorf("%s is %s of %d units", what, n.shown(), total), "it must be from %d units to 100 %%", least)
	}
	if !units.IsInt() {
		down := new(big.Int).Quo(units.Num(), units.Denom()).Int64()
		near := func(u int64) string {
			return strings.TrimSuffix(strings.TrimRight(new(big.Rat).SetFrac64(100*u, int64(total)).FloatString(6), "0"), ".") + "%"
		}
		return 0, hint(n.errorf("%s is %s, which is %s of %d units and not a whole number", what, n.shown(), strings.TrimRight(units.FloatString(4), "0"), total),
			"write %s or %s, or take a finer total", near(down), near(down+1))
	}
	return int(units.Num().Int64()), nil
}
