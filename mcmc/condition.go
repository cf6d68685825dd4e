package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// Limits of [WithConditions].
const (
	maxConditions      = 32   // greatest number of conditions of a space
	maxConditionValues = 1000 // greatest number of values of a condition
	maxCases           = 1024 // greatest number of cases; a case is one combination of classes, one class of each condition
)

// A Condition is a setting of a trial beside the composition, such as a temperature or a catalyst.
// It has finitely many values, numbered from 0.
type Condition struct {
	Name string

	// Weights holds one positive finite weight per value. In a space without objectives the
	// probability of a value is proportional to its weight. With objectives the target is
	// proportional to the product of this probability and the objectives.
	Weights []float64

	// ValueClasses[v] is the number of the class of value v; nil puts all values in class 0. A
	// class is a set of values that the rules do not distinguish.
	ValueClasses []int
}

// A conditionSet holds the conditions of a space. It is nil for a space without conditions.
type conditionSet struct {
	conditions            []Condition   // the conditions as the caller gave them
	probabilities         [][]float64   // probabilities[c][v] is the probability of value v of condition c
	logProbabilities      [][]float64   // logarithms of probabilities, in the same order
	valuesByClass         [][][]int     // valuesByClass[c][k] lists the values of condition c that belong to class k
	probabilitiesByClass  [][][]float64 // the probabilities of the values in valuesByClass, in the same order
	multiValuedConditions []int         // the indices of the conditions that have more than one value

	*conditionCases // one case per combination of classes; nil if no rule joins conditions and compositions
}

// WithConditions returns the space of the pairs (x, z), where x is a composition of base and z
// holds a value of each condition. In the target
//
//	W_n = Σ p(z) over the allowed pairs whose x has n ingredients
//
// takes the place of |X_n|, where p(z) is the product of the probabilities of the values. So
// without objectives the law of n is exactly the sparsity law.
//
// If cases is nil, every composition of base is allowed with all values. Otherwise rules join
// conditions and compositions, and each case has rules of its own. A case is a combination of
// classes, one class of each condition. Cases are numbered so that the class of the last condition
// varies fastest. The slice cases holds one space per case, or nil for a case that allows no
// composition.
//
// Each of these spaces must also keep the rules of base, must have the same ingredients and total,
// and must be counted for the same law of n. The space base must then be a space with rules, see
// [NewRuledSpace]; the counts of base have no effect.
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
		p, logP, values, err := c.valueDistribution()
		if err != nil {
			return nil, fmt.Errorf("condition %q %w", c.Name, err)
		}
		set.probabilities, set.logProbabilities, set.valuesByClass = append(set.probabilities, p), append(set.logProbabilities, logP), append(set.valuesByClass, values)
		set.probabilitiesByClass = append(set.probabilitiesByClass, groupProbabilitiesByClass(p, values))
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

// valueDistribution returns the probability p[v] of each value v, its logarithm logP[v], and the list
// values[k] of the values in each class k.
func (c *Condition) valueDistribution() (p, logP []float64, values [][]int, err error) {
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

// groupProbabilitiesByClass returns lists of probabilities, one list for each class. The argument
// p[v] is the probability of value v, and values[k] lists the values of class k.
func groupProbabilitiesByClass(p []float64, values [][]int) [][]float64 {
	classes := make([][]float64, len(values))
	for class, of := range values {
		for _, v := range of {
			classes[class] = append(classes[class], p[v])
		}
	}
	return classes
}

// classOf returns the number of the class that contains value v.
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

// hasCases reports whether some rules concern conditions and compositions together.
func (s *conditionSet) hasCases() bool { return s != nil && s.conditionCases != nil }

// areValidValueIndices reports whether values has one element per condition, and element c is the
// index of a value of condition c.
func (s *conditionSet) areValidValueIndices(values []int32) bool {
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

// checkValuesOf returns an error unless x holds a valid value of each condition.
func (s *conditionSet) checkValuesOf(x *Composition) error {
	if s == nil {
		if x.Conditions() > 0 {
			return fmt.Errorf("%v has %d conditions, and the space has none", x, x.Conditions())
		}
		return nil
	}
	if !s.areValidValueIndices(x.conditions) {
		return fmt.Errorf("%v does not hold a value of each of the space's %d conditions", x, len(s.conditions))
	}
	return nil
}

// logProbability returns log p(z), the log probability of the values of the conditions of x. It
// returns 0 if there are no conditions.
func (s *conditionSet) logProbability(x *Composition) float64 {
	sum := 0.0
	if s != nil {
		for c, v := range x.conditions {
			sum += s.logProbabilities[c][v]
		}
	}
	return sum
}

// draw sets each condition of y to a random value, drawn with the probabilities of the values. It
// does nothing if there are no conditions.
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

// drawWithinCase sets each condition of y to a random value in the class that case k prescribes for
// the condition.
func (s *conditionSet) drawWithinCase(r *Rand, y *Composition, k int) {
	y.allocateConditions(len(s.conditions))
	for c := range s.probabilities {
		class := s.classInCase(k, c)
		values := s.valuesByClass[c][class]
		v := values[0]
		if len(values) > 1 {
			v = values[r.Categorical(s.probabilitiesByClass[c][class])]
		}
		y.conditions[c] = int32(v)
	}
}

// newValueVisitor returns a function that calls visit once for each combination of values of the
// conditions. Before each call it gives the conditions of x these values.
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
