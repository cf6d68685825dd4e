package config

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kir/internal/config/schema"
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
	"kir/rule"
)

// Kinds are the kinds of constraints and properties that a problem file may have, in the order of the
// reference documentation.
type Kinds struct {
	Constraints []ConstraintKind
	Properties  []PropertyKind
	Sampler     schema.SamplerBounds // values that the settings of the sampler may have
}

// ConstraintKinds returns all kinds of constraints, in the order of the reference documentation.
func ConstraintKinds() []ConstraintKind {
	return []ConstraintKind{
		RequireKind, ExcludeKind, AmountKind, GroupKind, NeverKind, NeedsKind, LimitKind, LimitsKind,
		ConstituentsKind, RatioKind, NearKind, ConditionKind, IfKind, BlockKind,
	}
}

// Description returns the description of problem files whose constraints and properties have the kinds in k.
func (k *Kinds) Description() (d schema.Description) {
	d.Sampler = k.Sampler
	for _, c := range k.Constraints {
		d.Rules = append(d.Rules, schema.Kind{Key: c.Key, Sections: c.New(k).Sections()})
	}
	for _, p := range k.Properties {
		d.Properties = append(d.Properties, schema.Kind{Key: p.Key, Sections: p.New().Sections()})
	}
	return d
}

// RuleFields returns the key of the kind of the rule r, and the fields of r. The function name returns the name
// of an ingredient. The result kind is empty if r can be changed only by hand.
func (k *Kinds) RuleFields(r rule.Rule, name func(ingredient int) string) (kind string, all []RuleField) {
	for _, c := range k.Constraints {
		if c.Fields != nil {
			if all := c.Fields(r, name); all != nil {
				return c.Name, all
			}
		}
	}
	return "", nil
}

// An Item is one item of the list under the key "constraints". If the kind of the constraint is unknown, Value
// is nil and [Data.CompileItem] returns an error.
type Item struct {
	Value Constraint
	Node  *yaml.Node
}

// readConstraints decodes the list of constraints of a file.
func (k *Kinds) readConstraints(n *yaml.Node, bad *Diagnostics) (all []*Entry[Item], err error) {
	if n == nil || n.Kind == yaml.Null {
		return nil, nil
	}
	items, err := n.List("constraints")
	if err != nil {
		return nil, bad.Add(err)
	}
	for _, item := range items {
		e, err := newEntry(item, bad, k.decodeItem)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// decodeItem decodes one item of the list of constraints.
func (k *Kinds) decodeItem(n *yaml.Node) (Item, error) {
	kind, v, err := k.itemKind(n, nil)
	if err != nil {
		return Item{Node: n}, nil // CompileItem knows more about it
	}
	value := kind.New(k)
	if sections := value.Sections(); sections != nil {
		if err := checkKindKeys(kind, sections[0], v); err != nil {
			return Item{}, err
		}
	}
	return Item{value, n}, value.Decode(v)
}

// CompileItem returns the demands that a constraint makes of compositions.
func (d *Data) CompileItem(ctx context.Context, k *Kinds, item Item) ([]Demand, error) {
	if item.Value == nil {
		_, _, err := k.itemKind(item.Node, d)
		return nil, err
	}
	demands, err := item.Value.Compile(ctx, d)
	if err != nil {
		return nil, err
	}
	for i := range demands {
		if demands[i].Node == nil {
			demands[i].Node = item.Node
		}
	}
	return demands, nil
}

// itemSection returns the description of the keys that an item of the constraints may have. Each key is the
// key of a kind.
func (k *Kinds) itemSection() *schema.Section {
	var d schema.Description
	for _, c := range k.Constraints {
		d.Rules = append(d.Rules, schema.Kind{Key: c.Key})
	}
	return d.Rule()
}

// itemKind returns the kind of a constraint, and the YAML node under the key of the kind. If d is not nil,
// error messages can suggest names of ingredients and attributes.
func (k *Kinds) itemKind(item *yaml.Node, d *Data) (kind *ConstraintKind, v *yaml.Node, err error) {
	section := k.itemSection()
	if err := checkConstraintForm(item, section.ExactlyOneOf, d); err != nil {
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
		i := slices.IndexFunc(k.Constraints, func(c ConstraintKind) bool { return c.Name == name })
		kind, v = &k.Constraints[i], at
	}
	return kind, v, nil
}

// checkKindKeys returns an error if the node n, which is the value under the key of a kind of constraint, is
// not a mapping or has an unknown key. The error shows the right form.
func checkKindKeys(k *ConstraintKind, section *schema.Section, n *yaml.Node) error {
	if n.Kind != yaml.Mapping {
		return yaml.Hint(n.Errorf("%s is %s", k.Name, n.Describe()), "write %s", k.Form())
	}
	_, err := section.Fields(n)
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
	return err
}

// checkConstraintForm returns an error if a constraint has no kind, or if it has a key in the wrong place. The
// error shows the right form. If d is not nil, the error can suggest names of ingredients and attributes.
func checkConstraintForm(item *yaml.Node, kinds []string, d *Data) error {
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
	if d == nil {
		return yaml.Hint(key.Errorf("a rule has no kind %s", inputerr.Quote(key.Text)), "write one of %s", strings.Join(kinds, ", "))
	}
	if d.Attributes != nil {
		if a, ok := d.Attributes.Attribute(key.Text); ok {
			return yaml.Hint(key.Errorf("%s is an attribute and no kind of rule", inputerr.Quote(key.Text)), "for its mean write limit: {attribute: %s, max: 12}", a.Name)
		}
	}
	if i := slices.Index(d.IngredientNames, key.Text); i >= 0 {
		return yaml.Hint(key.Errorf("%s is an ingredient and no kind of rule", inputerr.Quote(key.Text)), "for its amount write amount: {of: %s, min: 20, max: 40}", d.IngredientNames[i])
	}
	return nil
}
