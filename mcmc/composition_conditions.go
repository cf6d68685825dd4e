package mcmc

import (
	"fmt"
	"slices"
)

// Conditions returns the number of conditions, such as a temperature, for which x holds a value. It
// is 0 in a space without conditions.
func (x *Composition) Conditions() int { return len(x.conditions) }

// Condition returns the index of the value of condition c in x.
func (x *Composition) Condition(c int) int { return int(x.conditions[c]) }

// SetCondition gives condition c the value with the given index. It returns an error if x has no
// condition c, or if the index is not between 0 and 999. It does not check how many values the
// condition has; [Space.Contains] does.
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

// WithConditions returns a copy of x with other values of the conditions: condition c gets the
// value with index values[c].
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

// copyConditions copies the values of the conditions of y to x.
func (x *Composition) copyConditions(y *Composition) {
	x.allocateConditions(len(y.conditions))
	copy(x.conditions, y.conditions)
}

// allocateConditions makes room in x for the values of the given number of conditions.
func (x *Composition) allocateConditions(number int) {
	if len(x.conditions) != number {
		x.conditions = make([]int32, number)
	}
}

// Composition returns the composition of the space with the given parts. Condition c gets the value
// with index conditions[c]. If conditions is nil, each condition gets its value of greatest weight,
// or the first of several values of greatest weight.
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
	return x, s.conditions.checkValuesOf(x)
}

// AppendConditions appends to dst the index of the value of each condition of x.
func (x *Composition) AppendConditions(dst []int32) []int32 { return append(dst, x.conditions...) }
