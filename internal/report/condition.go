package report

import (
	"fmt"

	"kir/internal/number"
)

// A Condition is a setting of an experiment beside the recipe, such as a temperature.
type Condition struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Given  bool   `json:"given,omitempty"` // whether circumstances determine the value, so that it cannot be chosen
	Values []any  `json:"values"`          // values that may be proposed: numbers or texts
}

// Text returns a value of the condition as text with its unit.
func (c Condition) Text(value any) string {
	if v, ok := value.(float64); ok {
		return number.WithUnit(v, c.Unit)
	}
	return fmt.Sprint(value)
}

// A ConditionRange is a range of values of a condition. Within the range the predictions change
// less than the models can resolve.
type ConditionRange struct {
	Low  any `json:"low"`
	High any `json:"high"`
}

// ConditionText returns the name of a condition and a value, with its unit, such as "temperature
// 185 °C".
func (p Problem) ConditionText(name string, value any) string {
	for _, c := range p.Conditions {
		if c.Name == name {
			return name + " " + c.Text(value)
		}
	}
	return name + " " + Condition{}.Text(value)
}

// ConditionTexts returns, for each condition of the problem, its value in a recipe as text.
// Examples are "oven deck" and "temperature 185 °C (180 to 190)".
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
