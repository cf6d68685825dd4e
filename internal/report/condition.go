package report

import (
	"fmt"

	"kir/internal/number"
)

// A Condition is what a trial sets beside the recipe.
type Condition struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Given  bool   `json:"given,omitempty"` // met and not chosen
	Values []any  `json:"values"`          // that may be offered: numbers or texts
}

// Text returns a value of the condition with its unit.
func (c Condition) Text(value any) string {
	if v, ok := value.(float64); ok {
		return number.WithUnit(v, c.Unit)
	}
	return fmt.Sprint(value)
}

// A ConditionRange is two values of a condition, and all between, that make no difference that the models resolve.
type ConditionRange struct {
	Low  any `json:"low"`
	High any `json:"high"`
}

// ConditionText returns a condition and a value of it, with its unit.
func (p Problem) ConditionText(name string, value any) string {
	for _, c := range p.Conditions {
		if c.Name == name {
			return name + " " + c.Text(value)
		}
	}
	return name + " " + Condition{}.Text(value)
}

// ConditionTexts returns what a recipe sets, a text for each condition of the problem, such as "oven deck" or
// "temperature 185 °C (180 to 190)".
func (p Problem) ConditionTexts(b Best) []string {
	var all []string
	for _, c := range p.Conditions {
		value, ok := b.Conditions[c.Name]
		if !ok {
			continue
		}
		text := c.Name + " " + c.Text(value)
		if r, ok := b.ConditionRanges[c.Name]; ok {
			text += fmt.Sprintf(" (%s to %s)", Condition{}.Text(r.Low), Condition{}.Text(r.High))
		}
		if c.Given {
			text += " (given)"
		}
		all = append(all, text)
	}
	return all
}
