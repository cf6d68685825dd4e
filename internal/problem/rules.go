package problem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/config/yaml"
	"kir/internal/constraint"
	"kir/internal/inputerr"
	"kir/rule"
)

// A Rule is one of the problem's constraints.
type Rule struct {
	Text  string      // description
	Rules []rule.Rule // one rule, or several, such as one for each ingredient's doses
	Stock map[int]int // stock of ingredients, in units; nil: not a stock rule
	Place int         // index of its item in the constraints; −1: not in the file
	Alone bool        // the item has only this one rule

	texts []string // descriptions of the single rules, if there are several

	predicted *predictedLimit // limit of what a property predicts, which is no rule of amounts; else nil
	at        *yaml.Node
}

// Slacks returns how far a composition is from the bounds of the rule. It returns nil if there are several
// rules, because one of them is always near its bounds.
func (r *Rule) Slacks(parts []rule.Part, total int) []constraint.Slack {
	if len(r.Rules) != 1 {
		return nil
	}
	return constraint.Slacks(r.Rules[0], parts, total)
}

// singleRule returns a list with one rule.
func singleRule(text string, r rule.Rule) []Rule { return []Rule{{Text: text, Rules: []rule.Rule{r}}} }

// add adds a rule and its description.
func (r *Rule) add(one rule.Rule, text string) {
	r.Rules, r.texts = append(r.Rules, one), append(r.texts, text)
}

// transform changes the rules and their descriptions.
func (r *Rule) transform(text func(string) string, change func(rule.Rule) rule.Rule) {
	r.Text = text(r.Text)
	for k := range r.texts {
		r.texts[k] = text(r.texts[k])
	}
	for k := range r.Rules {
		r.Rules[k] = change(r.Rules[k])
	}
}

// ingredientsUnder reads the ingredients of an amount or a group.
func ingredientsUnder(s *readContext, n *yaml.Node, f fields, what string) ([]int, string, error) {
	if f["of"] == nil {
		return nil, "", yaml.Hint(n.Errorf("%s does not say of what", what), `add of: a name, a list of names, "*", or {group: citrus}`)
	}
	return s.ingredientsOf(f["of"])
}

func readPair(n *yaml.Node, what, example string) ([]*yaml.Node, error) {
	if n.Kind != yaml.Sequence {
		return nil, yaml.Hint(n.Errorf("%s is %s", what, n.Describe()), "write the least and the greatest, such as %s", example)
	}
	items := n.Items
	if len(items) != 2 {
		return nil, yaml.Hint(n.Errorf("%s has %s", what, inputerr.Count(len(items), "number")), "write the least and the greatest, such as %s", example)
	}
	return items, nil
}

// readRules reads the rules of the file, and further ones that are not in it.
func readRules(ctx context.Context, s *loader, n *yaml.Node, more ...*yaml.Node) ([]Rule, error) {
	var items []*yaml.Node
	if n != nil && n.Kind != yaml.Null {
		var err error
		if items, err = n.List("constraints"); err != nil {
			return nil, s.diagnostics.add(err)
		}
	}
	if err := readConstituents(ctx, &s.readContext, items); err != nil {
		return nil, s.diagnostics.add(err) // rules use these attributes
	}
	var rules []Rule
	for k, item := range append(slices.Clip(items), more...) {
		if k >= len(items) {
			k = -1
		}
		err := s.diagnostics.collectErrors(item, func(item *yaml.Node) error {
			some, err := s.readRuleList(ctx, []*yaml.Node{item})
			for _, r := range some {
				r.Place, r.Alone = k, len(some) == 1 && r.at == item && len(r.Rules) == 1
				rules = append(rules, r)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// readRuleList reads a list of rules.
func (s *readContext) readRuleList(ctx context.Context, items []*yaml.Node) ([]Rule, error) {
	var rules []Rule
	for _, item := range items {
		kind, v, err := s.ruleKindOf(item)
		if err != nil {
			return nil, err
		}
		some, err := kind.readAt(ctx, s, v)
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

// ruleKindOf returns the kind of a rule, and the node under its key.
func (s *readContext) ruleKindOf(item *yaml.Node) (kind *ruleKind, v *yaml.Node, err error) {
	section := s.kinds.schema().Rule()
	if err := s.suggestRule(item, section.ExactlyOneOf); err != nil {
		return nil, nil, err
	}
	f, err := section.Fields(item)
	if err != nil {
		return nil, nil, err
	}
	if len(f) != 1 {
		return nil, nil, yaml.Hint(item.Errorf("a rule names %s", inputerr.Count(len(f), "kind")), "write one of %s, and another rule in a line of its own", strings.Join(section.ExactlyOneOf, ", "))
	}
	for name, at := range f {
		kind, v = s.kinds.rule(name), at
	}
	return kind, v, nil
}

// readAt reads the value under the key of a kind. If the value is nearly right, the error shows the right
// form.
func (k *ruleKind) readAt(ctx context.Context, s *readContext, n *yaml.Node) ([]Rule, error) {
	if len(k.Sections) == 0 {
		return k.read(ctx, s, n, nil)
	}
	if n.Kind != yaml.Mapping {
		return nil, yaml.Hint(n.Errorf("%s is %s", k.Name, n.Describe()), "write %s", k.Form())
	}
	section := k.Sections[0]
	f, err := section.Fields(n)
	if bad, ok := err.(*inputerr.Error); ok {
		known := section.Names()
		at := slices.IndexFunc(n.Entries, func(e yaml.Entry) bool { return !slices.Contains(known, e.Key.Text) })
		switch key := n.Entries[at].Key.Text; {
		case section.Mistakes[key] != "":
		case inputerr.DidYouMean(key, known) == "":
			bad.Hint = fmt.Sprintf("it has %s: %s", inputerr.List(known, 8), k.Form())
		default:
			bad.Hint += " Write, for example, " + k.Form()
		}
	}
	if err != nil {
		return nil, err
	}
	return k.read(ctx, s, n, f)
}

// suggestRule returns an error with the right form for rules that are nearly right: without their kind, or
// with a key outside of it.
func (s *readContext) suggestRule(item *yaml.Node, kinds []string) error {
	if item.Kind != yaml.Mapping {
		return yaml.Hint(item.Errorf("a rule is %s", item.Describe()), "write its kind and what it says, such as require: [Gin]")
	}
	if item.Get("if") != nil && item.Get("then") != nil {
		return yaml.Hint(item.Get("then").Errorf("then stands beside if"), "write it within: if: {used: Milk, then: {exclude: [Lemon juice]}}")
	}
	if len(item.Entries) != 1 || slices.Contains(kinds, item.Entries[0].Key.Text) {
		return nil
	}
	key, v := item.Entries[0].Key, item.Entries[0].Value
	if bound := key.Text; bound == "min" || bound == "max" || bound == "exactly" {
		name, figure := "cost", "12"
		if len(v.Entries) == 1 {
			name, figure = v.Entries[0].Key.Text, v.Entries[0].Value.Text
		} else if v.Kind == yaml.Text {
			name = v.Text
		}
		if bound == "exactly" {
			bound = "min: " + figure + ", max"
		}
		return yaml.Hint(key.Errorf("a rule has no kind %s", inputerr.Quote(key.Text)), "for a mean write limit: {attribute: %s, %s: %s}; for amounts, amount: {of: Gin, %s: 30}", name, bound, figure, key.Text)
	}
	if s.attributes != nil {
		if a, ok := s.attributes.Attribute(key.Text); ok {
			return yaml.Hint(key.Errorf("%s is an attribute and no kind of rule", inputerr.Quote(key.Text)), "for its mean write limit: {attribute: %s, max: 12}", a.Name)
		}
	}
	if i := slices.Index(s.names, key.Text); i >= 0 {
		return yaml.Hint(key.Errorf("%s is an ingredient and no kind of rule", inputerr.Quote(key.Text)), "for its amount write amount: {of: %s, min: 20, max: 40}", s.names[i])
	}
	return nil
}
