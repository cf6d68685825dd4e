package run

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"kir/internal/number"
)

// A Condition is a setting of an experiment beside the recipe, such as a temperature. It has
// numbers or categories as possible values; a value is identified by its index.
type Condition struct {
	Name       string    `json:"name"`
	Unit       string    `json:"unit,omitempty"`       // unit of the numbers; empty for categories
	Numbers    []float64 `json:"numbers,omitempty"`    // possible values of a numeric condition; nil for categories
	Categories []string  `json:"categories,omitempty"` // possible values of a condition with categories; nil for numbers
}

// Values returns the number of possible values of the condition.
func (c *Condition) Values() int { return len(c.Numbers) + len(c.Categories) }

// Value returns the value with index v: a float64 or a string.
func (c *Condition) Value(v int) any {
	if c.Numbers != nil {
		return c.Numbers[v]
	}
	return c.Categories[v]
}

// Text returns the value with index v as text, a number with its unit.
func (c *Condition) Text(v int) string {
	if c.Numbers == nil {
		return c.Categories[v]
	}
	return number.WithUnit(c.Numbers[v], c.Unit)
}

// valueIndex returns the index of a value that was read from a file of draws. If the condition has
// numbers, the value is number, otherwise category. If the condition has no such value, valueIndex
// returns an error.
func (c *Condition) valueIndex(number float64, category string) (int32, error) {
	k := slices.Index(c.Categories, category)
	if c.Numbers != nil {
		k = slices.Index(c.Numbers, number)
	}
	if k < 0 {
		return 0, fmt.Errorf("a draw has a value of the condition %q that the run does not have", c.Name)
	}
	return int32(k), nil
}

// checkConditions returns an error if the spec's conditions differ from the conditions of its
// target. It also returns an error if the name of a condition is already the name of another column
// of the draws.
func (s *Spec) checkConditions() error {
	of := s.Target.Space().Conditions()
	if len(s.Conditions) != len(of) {
		return fmt.Errorf("%d conditions are named, and the target has %d", len(s.Conditions), len(of))
	}
	taken := append(reservedColumnNames(), s.propertyNames()...)
	for k, c := range s.Conditions {
		switch {
		case c.Values() != len(of[k].Weights) || c.Numbers != nil && c.Categories != nil:
			return fmt.Errorf("the condition %q names %d values, and the target has %d", c.Name, c.Values(), len(of[k].Weights))
		case c.Name == "" || slices.Contains(taken, c.Name):
			return fmt.Errorf("a condition cannot be named %q: the file of draws has a column of that name", c.Name)
		case !utf8.ValidString(c.Name) || slices.ContainsFunc(c.Categories, func(v string) bool { return !utf8.ValidString(v) }):
			return fmt.Errorf("the condition %q or a value of it is not named in UTF-8", c.Name)
		}
		taken = append(taken, c.Name)
	}
	return nil
}
