package run

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"kir/internal/number"
)

// A Condition names the values of a condition of the target, by their index: numbers or categories.
type Condition struct {
	Name       string    `json:"name"`
	Unit       string    `json:"unit,omitempty"` // of the numbers
	Numbers    []float64 `json:"numbers,omitempty"`
	Categories []string  `json:"categories,omitempty"`
}

// Values returns how many values the condition has.
func (c *Condition) Values() int { return len(c.Numbers) + len(c.Categories) }

// Value returns a value: a float64 or a string.
func (c *Condition) Value(v int) any {
	if c.Numbers != nil {
		return c.Numbers[v]
	}
	return c.Categories[v]
}

// Text returns a value with its unit.
func (c *Condition) Text(v int) string {
	if c.Numbers == nil {
		return c.Categories[v]
	}
	return number.WithUnit(c.Numbers[v], c.Unit)
}

// index returns the index of the value that a file of draws has, or an error.
func (c *Condition) index(number float64, category string) (int32, error) {
	k := slices.Index(c.Categories, category)
	if c.Numbers != nil {
		k = slices.Index(c.Numbers, number)
	}
	if k < 0 {
		return 0, fmt.Errorf("a draw has a value of the condition %q that the run does not have", c.Name)
	}
	return int32(k), nil
}

// checkConditions returns an error if the conditions are not those of the target, or cannot be
// columns of the draws.
func (s *Spec) checkConditions() error {
	of := s.Target.Space().Conditions()
	if len(s.Conditions) != len(of) {
		return fmt.Errorf("%d conditions are named, and the target has %d", len(s.Conditions), len(of))
	}
	taken := append(reservedNames(), s.properties()...)
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
