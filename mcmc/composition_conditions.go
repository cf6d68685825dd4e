package mcmc

import (
	"fmt"
	"slices"
)

// Conditions returns the number of conditions that x holds a value of, 0 in a space without
// conditions.
func (x *Composition) Conditions() int { return len(x.conditions) }

// Condition returns the value of condition c of x, as an index from 0.
func (x *Composition) Condition(c int) int { return int(x.conditions[c]) }

// SetCondition sets the value of condition c. It returns an error if x has no such condition, or if
// value is negative. The space knows how many values there are: see [Space.Contains].
func (x *Composition) SetCondition(c, value int) error {
	if c < 0 || c >= len(x.conditions) {
		return fmt.Errorf("%d is not one of %d conditions", c, len(x.conditions))
	}
	if value < 0 || value >= maxConditionValues {
		return fmt.Errorf("%d is not the index of a value of a condition, 0 to %d", value, maxConditionValues-1)
	}
	x.conditions[c] = int32(value)
	return nil
}

// WithConditions returns a copy of x that holds the given values of conditions, by index, in place
// of those of x.
func (x *Composition) WithConditions(values ...int) (*Composition, error) {
	y := x.Clone()
	y.conditions = make([]int32, len(values))
	for c, v := range values {
		if err := y.SetCondition(c, v); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// copyConditions gives x the conditions of y.
func (x *Composition) copyConditions(y *Composition) {
	x.makeConditions(len(y.conditions))
	copy(x.conditions, y.conditions)
}

// makeConditions makes room for the values of the given number of conditions.
func (x *Composition) makeConditions(number int) {
	if len(x.conditions) != number {
		x.conditions = make([]int32, number)
	}
}

// Composition returns the composition of the space with the given parts, and with the given values of
// its conditions, by index. Without values each condition has the one of greatest weight, the first of
// equal ones.
func (s *Space) Composition(parts []Part, conditions []int32) (*Composition, error) {
	x, err := NewComposition(s.ingredients, parts...)
	if err != nil || s.conditions == nil {
		return x, err
	}
	if conditions == nil {
		for _, p := range s.conditions.probabilities {
			most := 0
			for v := range p {
				if p[v] > p[most] {
					most = v
				}
			}
			conditions = append(conditions, int32(most))
		}
	}
	x.conditions = slices.Clone(conditions)
	return x, s.conditions.contains(x)
}

// AppendConditions appends the index of the value of each condition to dst.
func (x *Composition) AppendConditions(dst []int32) []int32 { return append(dst, x.conditions...) }
