package change

import (
	"reflect"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// An AddRule is an edit that adds a rule. Text is the rule as a problem file writes it, such as "never: [Milk,
// Lemon juice]". A rule that the file has already is not added again.
type AddRule struct{ Text string }

func (c AddRule) apply(e *yaml.Editor) error {
	n, err := yaml.Parse("the rule", []byte(c.Text))
	if err != nil {
		return err
	}
	if n.Kind != yaml.Mapping {
		return &inputerr.Error{Message: inputerr.Quote(c.Text) + " is no rule", Hint: "write its kind and what it says, such as require: Gin"}
	}
	rule := n.Plain()
	if all := e.Root().Get("constraints"); all != nil {
		for _, item := range all.Items {
			if reflect.DeepEqual(item.Plain(), rule) {
				return nil
			}
		}
	}
	return e.Append(rule, "constraints")
}

// A SetRuleField is an edit that sets one key of a rule, such as the key max of an amount. A nil Value removes
// the key. A rule of the kind never means the same as a group of which at most one member is used. If a key of
// the kind group is set, the rule becomes such a group.
type SetRuleField struct {
	Place int    // index of the rule in the constraints of the file
	Kind  string // kind of the rule, such as amount
	Key   string // key under the kind, such as max; empty if the names of ingredients stand directly under the kind
	Value any
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
