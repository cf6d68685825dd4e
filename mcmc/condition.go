package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// Limits of [WithConditions]: the number of conditions of a space, the number of values of a
// condition, and the number of cases. A case is one combination of classes of the conditions.
const (
	maxConditions      = 32
	maxConditionValues = 1000
	maxCases           = 1024
)

// A Condition is a setting of a trial beside the composition, such as a temperature or a catalyst.
// A condition has finitely many values, each known by its index from 0.
type Condition struct {
	Name string

	// Weights holds one positive finite weight per value. In a space without objectives the
	// probability of a value is proportional to its weight. With objectives the target is
	// proportional to the product of this probability and the objectives.
	Weights []float64

	// ValueClasses holds the class number of each value; nil puts all values in class 0. Rules that join a
	// condition to the composition treat all values of a class alike.
	ValueClasses []int
}

// A conditionSet holds the conditions of a space. A nil conditionSet stands for no conditions.
type conditionSet struct {
	conditions            []Condition   // the conditions as they were given
	probabilities         [][]float64   // by condition and value: the probability of the value
	logProbabilities      [][]float64   // by condition and value: log of the probability
	valuesByClass         [][][]int     // by condition and class: the values of the class
	weightsByClass        [][][]float64 // by condition, class and value of the class: the probability of the value
	multiValuedConditions []int         // the indices of the conditions that have more than one value

	*conditionCases // one case per combination of classes; nil if no rule joins conditions and compositions
}

// WithConditions returns the space of the pairs (x, z), where x is a composition of base and z
// holds a value of each condition. In the target
//
//	W_n = Σ p(z) over the allowed pairs with n(x) = n
//
// takes the place of |X_n|, where p(z) is the product of the probabilities of the values. So
// without objectives the law of n is exactly the sparsity law.
//
// If cases is nil, every composition of base is allowed with all values. Otherwise rules join
// conditions and compositions. A case is a combination of one class of each condition. Cases are
// numbered so that the class of the last condition varies fastest. The slice cases holds one space
// per case, or nil for a case that allows no composition. Each space must also keep the rules of
// base, have the same ingredients and total, and be counted for the same law of n. Then base must
// be a space with rules, see [NewRuledSpace]; the counts of base have no effect.
//
// There are at most 32 conditions, at most 1,000 values of a condition, and at most 1,024 cases.
func WithConditions(base *Space, conditions []Condition, cases []*Space) (*Space, error) {
	switch {
	case base == nil || len(conditions) == 0:
		return nil, fmt.Errorf("conditions belong to a space, and there is at least one of them")
	case base.conditions != nil:
		return nil, fmt.Errorf("the space has conditions already")
	case len(conditions) > maxConditions:
		return nil, fmt.Errorf("there are %d conditions: at most %d are possible", len(conditions), maxConditions)
	}
	set := &conditionSet{conditions: conditions}
	for k, c := range conditions {
		p, logP, values, err := c.valueLaw()
		if err != nil {
			return nil, fmt.Errorf("condition %q %w", c.Name, err)
		}
		set.probabilities, set.logProbabilities, set.valuesByClass = append(set.probabilities, p), append(set.logProbabilities, logP), append(set.valuesByClass, values)
		set.weightsByClass = append(set.weightsByClass, groupProbabilitiesByClass(p, values))
		if len(p) > 1 {
			set.multiValuedConditions = append(set.multiValuedConditions, k)
		}
	}
	s := *base
	s.conditions = set
	var err error
	if set.conditionCases, err = newConditionCases(&s, cases); err != nil {
		return nil, err
	}
	if set.conditionCases != nil {
		s.rules = base.rules.withCountsOfCases(set.conditionCases)
	}
	return &s, nil
}

// valueLaw returns the probability of each value, the logarithm of that probability, and the indices of
// the values of each class.
func (c *Condition) valueLaw() (p, logP []float64, values [][]int, err error) {
	n := len(c.Weights)
	if n < 1 || n > maxConditionValues {
		return nil, nil, nil, fmt.Errorf("has %d values: it must have from 1 to %d", n, maxConditionValues)
	}
	if c.ValueClasses != nil && len(c.ValueClasses) != n {
		return nil, nil, nil, fmt.Errorf("has %d values, of which %d have a class", n, len(c.ValueClasses))
	}
	top := 0.0
	for v, w := range c.Weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return nil, nil, nil, fmt.Errorf("gives value %d the weight %v: it must be positive and finite", v, w)
		}
		top = max(top, w)
		class := c.classOf(v)
		if class < 0 || class >= n {
			return nil, nil, nil, fmt.Errorf("has value %d in the class %d", v, class)
		}
		for len(values) <= class {
			values = append(values, nil)
		}
		values[class] = append(values[class], v)
	}
	for class := range values {
		if len(values[class]) == 0 {
			return nil, nil, nil, fmt.Errorf("has no value in the class %d", class)
		}
	}
	sum := 0.0
	for _, w := range c.Weights {
		sum += w / top
	}
	for _, w := range c.Weights {
		p, logP = append(p, w/top/sum), append(logP, portable.Log(w)-portable.Log(top)-portable.Log(sum))
	}
	return p, logP, values, nil
}

// groupProbabilitiesByClass returns, for each class, the probabilities of its values. The argument p holds the
// probability of each value, and values the indices of the values of each class.
func groupProbabilitiesByClass(p []float64, values [][]int) [][]float64 {
	classes := make([][]float64, len(values))
	for class, of := range values {
		for _, v := range of {
			classes[class] = append(classes[class], p[v])
		}
	}
	return classes
}

// classOf returns the class of value v.
func (c *Condition) classOf(v int) int {
	if c.ValueClasses == nil {
		return 0
	}
	return c.ValueClasses[v]
}

// Conditions returns the conditions of the space, or nil if the space has none. Callers must not
// modify the slice.
func (s *Space) Conditions() []Condition {
	if s.conditions == nil {
		return nil
	}
	return s.conditions.conditions
}

// hasMultiValuedCondition reports whether some condition has more than one value.
func (s *conditionSet) hasMultiValuedCondition() bool {
	return s != nil && len(s.multiValuedConditions) > 0
}

// hasCases reports whether rules join conditions and compositions.
func (s *conditionSet) hasCases() bool { return s != nil && s.conditionCases != nil }

// holdsValues reports whether the slice values holds, for each condition, a valid index of one of
// its values.
func (s *conditionSet) holdsValues(values []int32) bool {
	if len(values) != len(s.conditions) {
		return false
	}
	for c, v := range values {
		if v < 0 || int(v) >= len(s.probabilities[c]) {
			return false
		}
	}
	return true
}

// contains returns an error if x does not hold a valid value of each condition.
func (s *conditionSet) contains(x *Composition) error {
	if s == nil {
		if x.Conditions() > 0 {
			return fmt.Errorf("%v has %d conditions, and the space has none", x, x.Conditions())
		}
		return nil
	}
	if !s.holdsValues(x.conditions) {
		return fmt.Errorf("%v does not hold a value of each of the space's %d conditions", x, len(s.conditions))
	}
	return nil
}

// logLaw returns log p(z), the log probability of the values of the conditions of x. It returns 0
// if there are no conditions.
func (s *conditionSet) logLaw(x *Composition) float64 {
	sum := 0.0
	if s != nil {
		for c, v := range x.conditions {
			sum += s.logProbabilities[c][v]
		}
	}
	return sum
}

// draw draws the value of each condition of y by the probabilities of the values. It does nothing
// if there are no conditions.
func (s *conditionSet) draw(r *Rand, y *Composition) {
	if s == nil {
		return
	}
	y.allocateConditions(len(s.conditions))
	for c, p := range s.probabilities {
		y.conditions[c] = 0
		if len(p) > 1 {
			y.conditions[c] = int32(r.Categorical(p))
		}
	}
}

// drawWithinCase draws the value of each condition of y among the values of case k, by the
// probabilities of the values.
func (s *conditionSet) drawWithinCase(r *Rand, y *Composition, k int) {
	y.allocateConditions(len(s.conditions))
	for c := range s.probabilities {
		class := s.classInCase(k, c)
		values := s.valuesByClass[c][class]
		v := values[0]
		if len(values) > 1 {
			v = values[r.Categorical(s.weightsByClass[c][class])]
		}
		y.conditions[c] = int32(v)
	}
}

// newValueVisitor returns a function that calls visit once for each combination of values of the
// conditions. Before each call it sets the conditions of x to the combination.
func (s *conditionSet) newValueVisitor(x *Composition, visit func(x *Composition) error) func(*Composition) error {
	x.allocateConditions(len(s.conditions))
	var set func(c int) error
	set = func(c int) error {
		if c == len(s.conditions) {
			return visit(x)
		}
		for v := range s.probabilities[c] {
			x.conditions[c] = int32(v)
			if err := set(c + 1); err != nil {
				return err
			}
		}
		return nil
	}
	return func(*Composition) error { return set(0) }
}
