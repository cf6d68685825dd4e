package change

import (
	"kir/internal/fault"
	"kir/internal/problem/yaml"
)

// A AddRule adds a rule as a problem file has it, such as "never: [Milk, Lemon juice]".
type AddRule struct{ Text string }

func (c AddRule) apply(e *yaml.Editor) error {
	n, err := yaml.Parse("the rule", []byte(c.Text))
	if err != nil {
		return err
	}
	if n.Kind != yaml.Mapping {
		return &fault.Error{Message: fault.Quote(c.Text) + " is no rule", Hint: "write its kind and what it says, such as require: Gin"}
	}
	return e.Append(n.Plain(), "constraints")
}

// An SetRuleField gives what a rule says under one key, such as the max of an amount; a
// Value of nil takes the key out. Place is that of the rule in the file. Never is
// a group of which at most one is used, and becomes one where that is changed.
type SetRuleField struct {
	Place     int
	Kind, Key string // the key is empty where the kind is followed by ingredients alone
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
