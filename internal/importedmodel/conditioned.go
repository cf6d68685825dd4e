package importedmodel

import (
	"fmt"

	"kir/mcmc"
)

// A ConditionedProperty scores a composition by one of several properties, which the values of some
// conditions select. An example is a model for each temperature. There is one property for each
// combination of values. The properties themselves do not depend on conditions.
type ConditionedProperty struct {
	conditions  []int               // indices of the conditions
	valueCounts []int               // by element of conditions: the number of its values
	properties  []mcmc.LineProperty // by combination of values, with the value of the last condition varying fastest
}

var _ mcmc.LineProperty = (*ConditionedProperty)(nil)

// NewConditioned returns a [ConditionedProperty]. The parameter conditions holds the indices of the
// conditions, and values holds the number of values of each. The parameter of holds one property
// for each combination of values. The value of the last condition varies fastest.
func NewConditioned(conditions, values []int, of []mcmc.LineProperty) (*ConditionedProperty, error) {
	number := 1
	for _, n := range values {
		number *= n
	}
	if len(conditions) != len(values) || number != len(of) {
		return nil, fmt.Errorf("%d properties for %d combinations of conditions", len(of), number)
	}
	return &ConditionedProperty{conditions, values, of}, nil
}

// Combination returns the index of the property that scores x.
func (p *ConditionedProperty) Combination(x *mcmc.Composition) int {
	at := 0
	for k, c := range p.conditions {
		at = at*p.valueCounts[k] + x.Condition(c)
	}
	return at
}

// LogScore returns the logarithm of the score of x.
func (p *ConditionedProperty) LogScore(x *mcmc.Composition) float64 {
	return p.properties[p.Combination(x)].LogScore(x)
}

// Scorer returns a scorer that follows x.
func (p *ConditionedProperty) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &conditionedScorer{property: p, x: x, scorers: make([]mcmc.Scorer, len(p.properties))}
}

// A conditionedScorer is the [mcmc.Scorer] of a [ConditionedProperty]. Only the scorer for the current
// combination of values follows each move of the composition.
type conditionedScorer struct {
	property *ConditionedProperty
	x        *mcmc.Composition
	scorers  []mcmc.Scorer // by combination of values: its scorer; nil before the first use
	active   mcmc.Scorer   // the scorer for the current combination of values
}

// resetScorer returns the scorer for a combination of values, after resetting it to the current
// amounts of x.
func (s *conditionedScorer) resetScorer(combination int) mcmc.Scorer {
	if s.scorers[combination] == nil {
		s.scorers[combination] = s.property.properties[combination].Scorer(s.x)
	}
	s.scorers[combination].Reset()
	return s.scorers[combination]
}

func (s *conditionedScorer) Reset()                                   { s.active = s.resetScorer(s.property.Combination(s.x)) }
func (s *conditionedScorer) LogScore() float64                        { return s.active.LogScore() }
func (s *conditionedScorer) Line(i, j int, p *mcmc.PiecewiseConstant) { s.active.Line(i, j, p) }
func (s *conditionedScorer) Moved(i, j int)                           { s.active.Moved(i, j) }
func (s *conditionedScorer) ConditionSet(int)                         { s.Reset() }

// Values implements [mcmc.ConditionScorer].
func (s *conditionedScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	own := s.property.Combination(s.x)
	stride, values := 1, 0
	for k := len(s.property.conditions) - 1; k >= 0; k-- {
		if s.property.conditions[k] == c {
			values = s.property.valueCounts[k]
			break
		}
		stride *= s.property.valueCounts[k]
	}
	if values == 0 {
		p.Add(0, s.active.LogScore())
		return
	}
	first := own - stride*s.x.Condition(c)
	for v := range values {
		at := s.active
		if combination := first + stride*v; combination != own {
			at = s.resetScorer(combination)
		}
		p.Add(v, at.LogScore())
	}
}
