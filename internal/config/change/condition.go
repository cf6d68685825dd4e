package change

import (
	"fmt"

	"kir/internal/config/yaml"
	"kir/internal/inputerr"
)

// A Given gives a condition a value, a number or a text; nil frees it, so that its value is chosen with the recipes.
type Given struct {
	Condition string
	Value     any
}

func (c Given) apply(e *yaml.Editor) error {
	all := e.Root().Get("conditions")
	if all == nil || all.Get(c.Condition) == nil {
		return &inputerr.Error{Message: fmt.Sprintf("there is no condition %s", inputerr.Quote(c.Condition))}
	}
	switch c.Value.(type) {
	case int, float64, string:
		return e.Set(c.Value, "conditions", c.Condition, "given")
	case nil:
		if all.Get(c.Condition).Get("given") == nil {
			return nil
		}
		return e.Remove("conditions", c.Condition, "given")
	}
	return &inputerr.Error{Message: fmt.Sprintf("the value of %s is neither a number nor a text", inputerr.Quote(c.Condition))}
}
