package problem

import (
	"slices"

	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

// unknown returns the first key that is not known.
func unknown(n *yaml.Node, known []string) string {
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) {
			return e.Key.Text
		}
	}
	return ""
}

// nearlyRule shows the right form of rules that are nearly one: without their
// kind, or with a part outside of it.
func (s *shelf) nearlyRule(item *yaml.Node, kinds []string) error {
	if item.Kind != yaml.Mapping {
		return yaml.Hint(item.Errorf("a rule is %s", item.Shown()), "write its kind and what it says, such as require: [Gin]")
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
		return yaml.Hint(key.Errorf("a rule has no kind %s", fault.Quote(key.Text)), "for a mean write limit: {attribute: %s, %s: %s}; for amounts, amount: {of: Gin, %s: 30}", name, bound, figure, key.Text)
	}
	if s.attributes != nil {
		if a, ok := s.attributes.Attribute(key.Text); ok {
			return yaml.Hint(key.Errorf("%s is an attribute and no kind of rule", fault.Quote(key.Text)), "for its mean write limit: {attribute: %s, max: 12}", a.Name)
		}
	}
	if i := slices.Index(s.names, key.Text); i >= 0 {
		return yaml.Hint(key.Errorf("%s is an ingredient and no kind of rule", fault.Quote(key.Text)), "for its amount write amount: {of: %s, min: 20, max: 40}", s.names[i])
	}
	return nil
}
