package config

import (
	"context"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/rule"
)

// IfKind is the kind of constraint whose inner constraints apply only under a premise. The premise is that some
// ingredients are used or unused, or that a condition has certain values.
var IfKind = ConstraintKind{
	Key: schema.NewKey("if", schema.Link("if"), "", "rules that apply only to some recipes", "{if: {used: Milk, then: {exclude: [Lemon juice]}}}"),
	New: func(k *Kinds) Constraint { return &ifRule{kinds: k} },
}

// An ifRule is the value of a constraint whose inner rules apply only under a premise. It has one of these
// forms:
//
//	if: {used: Milk, then: {exclude: [Lemon juice]}}
//	if: {condition: {of: catalyst, is: B}, then: {exclude: [Milk]}}
//
// The premise "used" holds if at least one of the named ingredients is used. The premise "unused" holds if none
// of the named ingredients is used.
type ifRule struct {
	Used, Unused Ingredients
	Condition    *conditionRule
	Then         []Item

	kinds *Kinds
}

func (r *ifRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "if", ID: "if", About: "The rules under `then` apply to recipes for which all other keys of `if` hold.",
		Keys: []schema.Key{
			newKey("used", schema.Ingredients(), "", "holds if any of these is used", "{used: Milk, then: {exclude: [Lemon juice]}}", nodeReader(&r.Used)),
			newKey("unused", schema.Ingredients(), "", "holds if none of these is used", "{unused: [Gin, Vodka], then: {require: [Vermouth]}}", nodeReader(&r.Unused)),
			newKey("condition", schema.Link("condition rule"), "", "holds if a condition has these values", "{condition: {of: catalyst, is: B}, then: {exclude: [Milk]}}", r.readConditionPremise),
			newKey("then", innerRuleType(1), "", "the rules that then apply", "{used: Milk, then: [{exclude: [Lime juice]}, {amount: {of: Sugar, min: 50}}]}", r.kinds.innerRulesReader(&r.Then, "then")),
		},
		Required:     []string{"then"},
		AtLeastOneOf: []string{"used", "unused", "condition"},
		Mistakes: map[string]string{
			"if":         "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
			"not":        "write unused: if: {unused: Milk, then: {require: [Cream]}}",
			"exclude":    "write it behind then: if: {used: Milk, then: {exclude: [Lemon juice]}}",
			"require":    "write it behind then: if: {used: Milk, then: {require: [Sugar]}}",
			"else":       "write a second rule: if: {unused: Milk, then: {require: [Cream]}}",
			"ingredient": "write used: if: {used: Milk, then: {exclude: [Lemon juice]}}",
		},
	}}
}

// innerRuleType returns the schema type of an inner constraint, or of a list of inner constraints. An inner
// constraint stands within another constraint. The list has at least minCount items.
func innerRuleType(minCount int) schema.Type {
	one := schema.Link("rule")
	one.Schema["not"] = schema.Object{"required": []string{"constituents"}}
	return schema.OneOrMore(one, minCount)
}

func (r *ifRule) Decode(n *yaml.Node) error {
	const form = "write {used: Milk, then: {exclude: [Lemon juice]}}"
	if n.Get("used") == nil && n.Get("unused") == nil && n.Get("condition") == nil {
		return yaml.Hint(n.Errorf("the rule does not say when: used, unused or condition is missing"), form)
	}
	if err := n.Require("if", form, "then"); err != nil {
		return err
	}
	return r.Sections()[0].Decode(n)
}

func (r *ifRule) Compile(ctx context.Context, d *Data) (_ []Demand, err error) {
	var when rule.If
	var premises []string
	for _, g := range []struct {
		key string
		at  Ingredients
		of  *[]int
	}{{"used", r.Used, &when.Used}, {"unused", r.Unused, &when.Unused}} {
		if g.at != nil {
			var text string
			if *g.of, text, err = d.WithoutBlock().WhichIngredients(g.at); err != nil {
				return nil, err
			}
			switch {
			case g.key == "used":
				text = anyOfText(text, len(*g.of)) + " is used"
			case len(*g.of) == 1:
				text += " is not used"
			default:
				text = "none of " + text + " is used"
			}
			premises = append(premises, text)
		}
	}
	var values []ConditionValues
	if r.Condition != nil {
		v, text, err := r.Condition.allowedValues(d)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		premises = append(premises, d.Conditions[v.Condition].Name+" is "+text)
	}
	words := "if " + strings.Join(premises, " and ") + ", "
	inner, err := d.compileInnerRules(ctx, r.kinds, r.Then)
	if err != nil {
		return nil, err
	}
	for k := range inner {
		inner[k].ConditionValues = append(slices.Clip(inner[k].ConditionValues), values...)
		inner[k].Node = nil
		if len(when.Used)+len(when.Unused) == 0 {
			inner[k].transformRules(func(text string) string { return words + text }, func(r rule.Rule) rule.Rule { return r })
			continue
		}
		if inner[k].Forbids {
			inner[k].Text, inner[k].Forbids, inner[k].Rules = words+inner[k].Text, false, []rule.Rule{negatePremise(when)}
			continue
		}
		inner[k].transformRules(func(text string) string { return words + text }, func(r rule.Rule) rule.Rule {
			when := when
			when.Then = r
			return when
		})
	}
	return inner, nil
}

// negatePremise returns a rule that holds exactly for the compositions for which the premise of the rule when
// does not hold.
func negatePremise(when rule.If) rule.Rule {
	if len(when.Unused) == 0 {
		return rule.Exclude{Of: when.Used}
	}
	some := rule.Group{Of: when.Unused, Used: &rule.Range{Min: 1, Max: len(when.Unused)}}
	if len(when.Used) == 0 {
		return some
	}
	return rule.If{Used: when.Used, Then: some}
}

// readConditionPremise decodes the premise that a condition has certain values.
func (r *ifRule) readConditionPremise(n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		return yaml.Hint(n.Errorf("condition is %s", n.Describe()), "write {of: catalyst, is: B}")
	}
	r.Condition = new(conditionRule)
	return r.Condition.Decode(n)
}

// innerRulesReader returns a function that decodes one constraint, or a list of constraints, within another
// constraint. The parameter key is the key in the file.
func (k *Kinds) innerRulesReader(field *[]Item, key string) valueReader {
	return func(n *yaml.Node) error {
		switch {
		case n.Kind != yaml.Mapping && n.Kind != yaml.Sequence:
			return yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write a rule, such as {exclude: [Lemon juice]}, or a list of rules")
		case len(n.ItemsOrSelf()) == 0:
			return yaml.Hint(n.Errorf("%s has no rule", key), "write one, such as {exclude: [Lemon juice]}")
		}
		for _, one := range n.ItemsOrSelf() {
			item, err := k.decodeItem(one)
			if err != nil {
				return err
			}
			*field = append(*field, item)
		}
		return nil
	}
}

// optionalInnerRulesReader is like innerRulesReader, but the value may be empty.
func (k *Kinds) optionalInnerRulesReader(field *[]Item, key string) valueReader {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.Null || len(n.ItemsOrSelf()) == 0 {
			return nil
		}
		return k.innerRulesReader(field, key)(n)
	}
}

// compileInnerRules compiles constraints that stand within another constraint.
func (d *Data) compileInnerRules(ctx context.Context, k *Kinds, items []Item) (all []Demand, err error) {
	nested := d.InNestedRules
	d.InNestedRules = true
	defer func() { d.InNestedRules = nested }()
	for _, item := range items {
		some, err := d.CompileItem(ctx, k, item)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// BlockKind is the kind of constraint that gives some ingredients a fixed total. It can contain constraints on
// the same ingredients.
var BlockKind = ConstraintKind{
	Key: schema.NewKey("block", schema.Link("block"), "", "a part of the recipe with a fixed total", "{block: {of: {phase: water}, total: 700, rules: []}}"),
	New: func(k *Kinds) Constraint { return &blockRule{kinds: k} },
}

// A blockRule is the value of a constraint that gives some ingredients a fixed total:
//
//	block: {of: {phase: water}, total: 700, rules: [{amount: {of: Glycerin, max: "10%"}}]}
//
// The rules within the block concern only the ingredients of the block. A percentage is a share of the total of
// the block, and a mean is over the ingredients of the block.
type blockRule struct {
	Of    Ingredients
	Total Written[Units]
	Rules []Item

	kinds *Kinds
}

func (r *blockRule) Sections() schema.Sections {
	return schema.Sections{{
		Name: "block", ID: "block", About: "Rules within a block apply only to the block's ingredients; their percentages and means refer to the block.",
		Keys: []schema.Key{
			newKey("of", schema.Ingredients(), "", "the members of the block", "{of: {phase: water}, total: 700}", nodeReader(&r.Of)),
			newKey("total", schema.Units(1), "", "total of the members", "{of: {phase: oil}, total: \"40%\"}", decodingReader(&r.Total, decodeBlockTotal)),
			newKey("rules", schema.Optional(innerRuleType(0)), "none", "rules within the block", "{of: {phase: water}, total: 700, rules: [{amount: {of: Lemon juice, max: \"30%\"}}]}", r.kinds.optionalInnerRulesReader(&r.Rules, "rules")),
		},
		Required: []string{"of", "total"},
		Mistakes: map[string]string{
			"min": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
			"max": "a block adds up to one total; for a range write group: {of: ..., total: [600, 700]}",
		},
	}}
}

func decodeBlockTotal(n *yaml.Node) (Units, error) {
	if n.Kind == yaml.Sequence {
		return nil, yaml.Hint(n.Errorf("a block adds up to one total"), "for a range of totals write group: {of: ..., total: [600, 700]}")
	}
	return n, nil
}

func (r *blockRule) Decode(n *yaml.Node) error {
	if err := requireOfKey(n, "block"); err != nil {
		return err
	}
	if n.Get("total") == nil {
		return yaml.Hint(n.Errorf("the block has no total"), `add total: what its ingredients add up to, such as 700 or "70%%"`)
	}
	return r.Sections()[0].Decode(n)
}

// innerRuleText returns the text of a constraint within a block. The parameter block names the
// ingredients of the block. Percentages are of the whole recipe, not of the block.
func innerRuleText(in, block string) string {
	if strings.HasSuffix(in, "%") {
		in += " of the total"
	}
	return in + ", within " + block
}

func (r *blockRule) Compile(ctx context.Context, d *Data) ([]Demand, error) {
	of, text, err := d.WhichIngredients(r.Of)
	if err != nil {
		return nil, err
	}
	total, err := d.ReadUnits(r.Total.Value, "the total", 1)
	if err != nil {
		return nil, err
	}
	demands := singleRuleDemand(text+" (own sub-recipe): together exactly "+d.amountText(total), rule.Group{Of: of, Total: &rule.Range{Min: total, Max: total}})
	err = d.callWithinBlock(total, &Block{of, text}, func() error {
		inner, err := d.compileInnerRules(ctx, r.kinds, r.Rules)
		for k := range inner {
			inner[k].transformRules(func(in string) string { return innerRuleText(in, text) }, func(r rule.Rule) rule.Rule { return r })
		}
		demands = append(demands, inner...)
		return err
	})
	return demands, err
}
