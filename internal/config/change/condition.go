package change

import (
	"fmt"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/dataset"
	"kir/internal/inputerr"
)

// A Given is an edit that fixes the value of a condition, so that kir does not choose the value. If Value is
// nil, the edit removes the fixed value: kir then chooses a value together with each recipe.
type Given struct {
	Condition string // normalized name of the condition
	Value     any    // a number, a text or nil
}

func (c Given) apply(e *yaml.Editor) error {
	switch c.Value.(type) {
	case int, float64, string, nil:
	default:
		return &inputerr.Error{Message: fmt.Sprintf("the value of %s is neither a number nor a text", inputerr.Quote(c.Condition))}
	}
	written := c.conditionEntry(e.Root())
	if written == nil {
		lists := c.constantLists(e.Root())
		if lists == nil {
			return &inputerr.Error{Message: fmt.Sprintf("there is no condition %s", inputerr.Quote(c.Condition))}
		}
		if c.Value == nil {
			return nil
		}
		if err := c.moveConstants(e, lists); err != nil {
			return err
		}
		written = c.conditionEntry(e.Root())
	}
	if c.Value != nil {
		return e.Set(c.Value, "conditions", written.Key.Text, "given")
	}
	if written.Value.Get("given") == nil {
		return nil
	}
	return e.Remove("conditions", written.Key.Text, "given")
}

// conditionEntry returns the entry of the condition under the key "conditions". It returns nil if there is no
// entry.
func (c Given) conditionEntry(root *yaml.Node) *yaml.Entry {
	all := root.Get("conditions")
	if all == nil {
		return nil
	}
	for k := range all.Entries {
		if dataset.NormalizeName(all.Entries[k].Key.Text) == c.Condition {
			return &all.Entries[k]
		}
	}
	return nil
}

// constantLists returns the constants of imported models that act as the condition, because the file lists
// several values for them.
func (c Given) constantLists(root *yaml.Node) (all []config.ConstantList) {
	for _, list := range config.ConstantLists(root) {
		if dataset.NormalizeName(list.Key.Text) == c.Condition {
			all = append(all, list)
		}
	}
	return all
}

// moveConstants moves lists of values of constants to the key "conditions", because only a condition can have a
// fixed value. All lists must have the same values.
func (c Given) moveConstants(e *yaml.Editor, lists []config.ConstantList) error {
	var values []any
	for _, item := range lists[0].Value.Items {
		v, err := item.Float("the constant")
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	if err := e.Set(yaml.Map{{Key: "values", Value: values}}, "conditions", c.Condition); err != nil {
		return err
	}
	for _, list := range lists {
		path := list.Path()
		if list.IsOnlyConstant {
			path = path[:len(path)-1]
		}
		if err := e.Remove(path...); err != nil {
			return err
		}
	}
	return nil
}
