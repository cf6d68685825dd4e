package mcmc

import (
	"fmt"
	"math"

	"kir/internal/portable"
)

// Bounds of [WithConditions]: the most conditions of a space, the most values of a condition, and the most cases,
// which are the combinations of classes of the conditions.
const (
	maxConditions      = 32
	maxConditionValues = 1000
	maxCases           = 1024
)

// A Condition is what a trial sets beside the composition, such as a temperature or a catalyst. It
// has one of finitely many values, which mcmc knows by their index.
type Condition struct {
	Name string

	// Weights are the probabilities of the values up to a factor, positive and finite, in a space
	// without objectives. The law with objectives is proportional to their product.
	Weights []float64

	// Class divides the values into classes numbered from 0, by index; nil stands for one class. Rules
	// that join a condition to the composition say the same of all values of a class.
	Class []int
}

// conditionSet is the conditions of a space. The methods of a nil set are those of a space without
// conditions.
type conditionSet struct {
	list          []Condition
	probabilities [][]float64   // by condition and value: the probability of the value
	logP          [][]float64   // by condition and value: log of the probability
	values        [][][]int     // by condition and class: the values of the class
	weights       [][][]float64 // by condition, class and value of the class: the probability of the value
	several       []int         // the conditions that have more than one value

	*cases // nil if no rule joins conditions and compositions
}

// WithConditions returns the space of the pairs (x, z) of a composition of base and a value for each
// condition, such that
//
//	W_n = Σ p(z) over the allowed pairs with n(x) = n
//
// takes the place of |X_n|, where p(z) is the product of the normalised weights of the values. The
// law of n is then the sparsity law exactly, if there are no objectives.
//
// Every composition of base is allowed with all values if cases is nil. Otherwise rules join
// conditions and compositions. A case is a class of each condition, numbered with the class of the
// last condition varying fastest. cases has a space for each, nil where no composition is allowed.
// Each keeps the rules of base too, has the same ingredients and total, and is counted for the same
// law of n. Then base must be a space with rules, see [NewRuledSpace]; its own counts have no effect.
//
// There are at most 32 conditions of at most 1,000 values each, and at most 1,024 cases.
func WithConditions(base *Space, conditions []Condition, cases []*Space) (*Space, error) {
	switch {
	case base == nil || len(conditions) == 0:
		return nil, fmt.Errorf("conditions belong to a space, and there is at least one of them")
	case base.conditions != nil:
		return nil, fmt.Errorf("the space has conditions already")
	case len(conditions) > maxConditions:
		return nil, fmt.Errorf("there are %d conditions: at most %d are possible", len(conditions), maxConditions)
	}
	set := &conditionSet{list: conditions}
	for k, c := range conditions {
		p, logP, values, err := c.law()
		if err != nil {
			return nil, fmt.Errorf("condition %q %w", c.Name, err)
		}
		set.probabilities, set.logP, set.values = append(set.probabilities, p), append(set.logP, logP), append(set.values, values)
		set.weights = append(set.weights, gatherClasses(p, values))
		if len(p) > 1 {
			set.several = append(set.several, k)
		}
	}
	s := *base
	s.conditions = set
	var err error
	if set.cases, err = newCases(&s, cases); err != nil {
		return nil, err
	}
	if set.cases != nil {
		s.rules = base.rules.mixedOver(set.cases)
	}
	return &s, nil
}

// law returns the probability of each value, its logarithm, and the values of each class.
func (c *Condition) law() (p, logP []float64, values [][]int, err error) {
	n := len(c.Weights)
	if n < 1 || n > maxConditionValues {
		return nil, nil, nil, fmt.Errorf("has %d values: it must have from 1 to %d", n, maxConditionValues)
	}
	if c.Class != nil && len(c.Class) != n {
		return nil, nil, nil, fmt.Errorf("has %d values, of which %d have a class", n, len(c.Class))
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

// gatherClasses returns the probabilities of the values of each class.
func gatherClasses(p []float64, values [][]int) [][]float64 {
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
	if c.Class == nil {
		return 0
	}
	return c.Class[v]
}

// Conditions returns the conditions of the space, nil if it has none. Callers must not modify the
// slice.
func (s *Space) Conditions() []Condition {
	if s.conditions == nil {
		return nil
	}
	return s.conditions.list
}

// hasFree reports whether a condition has more than one value.
func (s *conditionSet) hasFree() bool { return s != nil && len(s.several) > 0 }

// isTied reports whether rules join conditions and compositions.
func (s *conditionSet) isTied() bool { return s != nil && s.cases != nil }

// holdsValues reports whether there is a value of each condition, by index.
func (s *conditionSet) holdsValues(values []int32) bool {
	if len(values) != len(s.list) {
		return false
	}
	for c, v := range values {
		if v < 0 || int(v) >= len(s.probabilities[c]) {
			return false
		}
	}
	return true
}

// contains returns an error if x does not hold a value of each condition.
func (s *conditionSet) contains(x *Composition) error {
	if s == nil {
		if x.Conditions() > 0 {
			return fmt.Errorf("%v has %d conditions, and the space has none", x, x.Conditions())
		}
		return nil
	}
	if !s.holdsValues(x.conditions) {
		return fmt.Errorf("%v does not hold a value of each of the space's %d conditions", x, len(s.list))
	}
	return nil
}

// logLaw returns log p(z) of the conditions of x, 0 without conditions.
func (s *conditionSet) logLaw(x *Composition) float64 {
	sum := 0.0
	if s != nil {
		for c, v := range x.conditions {
			sum += s.logP[c][v]
		}
	}
	return sum
}

// draw draws the value of each condition of y from p. Without conditions it does nothing.
func (s *conditionSet) draw(r *Rand, y *Composition) {
	if s == nil {
		return
	}
	y.makeConditions(len(s.list))
	for c, p := range s.probabilities {
		y.conditions[c] = 0
		if len(p) > 1 {
			y.conditions[c] = int32(r.Categorical(p))
		}
	}
}

// drawWithin draws the value of each condition of y from p within case k.
func (s *conditionSet) drawWithin(r *Rand, y *Composition, k int) {
	y.makeConditions(len(s.list))
	for c := range s.probabilities {
		class := s.class(k, c)
		values := s.values[c][class]
		v := values[0]
		if len(values) > 1 {
			v = values[r.Categorical(s.weights[c][class])]
		}
		y.conditions[c] = int32(v)
	}
}

// eachValue returns a function that calls visit for all values of the conditions of x.
func (s *conditionSet) eachValue(x *Composition, visit func(x *Composition) error) func(*Composition) error {
	x.makeConditions(len(s.list))
	var set func(c int) error
	set = func(c int) error {
		if c == len(s.list) {
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
