package change

import (
	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// An AddRule adds a rule. Text is the rule as a problem file writes it, such as "never: [Milk, Lemon juice]".
type AddRule struct{ Text string }

func (c AddRule) apply(e *yaml.Editor) error {
	n, err := yaml.Parse("the rule", []byte(c.Text))
	if err != nil {
		return err
	}
	if n.Kind != yaml.Mapping {
		return &inputerr.Error{Message: inputerr.Quote(c.Text) + " is no rule", Hint: "write its kind and what it says, such as require: Gin"}
	}
	return e.Append(n.Plain(), "constraints")
}

// A SetRuleField sets one key of a rule, such as the key max of an amount. A nil Value removes the key. A
// rule of kind never is the same as a group of which at most one member is used. It becomes such a group if a
// key of the kind group is set.
type SetRuleField struct {
	Place     int    // index of the rule in the constraints of the file
	Kind, Key string // kind of the rule, and key under the kind; Key is empty if the names of ingredients stand directly under the kind
	Value     any
}

func (c SetRuleField) apply(e *yaml.Editor) error {
	all := e.Root().Get("constraints")
	if all == nil || c.Place < 0 || c.Place >= len(all.Items) {
		return e.Root().Errorf("there is no rule %d", c.Place+1)
	}
	item := all.Items[c.Place]
	if of := item.Get("never"); of != nil && c.Kind == "group" {
		return e.Set(yamlMapping("group", yamlMapping("of", of.Plain(), c.Key, c.Value)), "constraints", c.Place)
	}
	if item.Get(c.Kind) == nil {
		return item.Errorf("the rule is no %s", c.Kind)
	}
	path := []any{"constraints", c.Place, c.Kind}
	if c.Key != "" {
		path = append(path, c.Key)
	}
	if c.Value == nil {
		return e.Remove(path...)
	}
	return e.Set(c.Value, path...)
}
