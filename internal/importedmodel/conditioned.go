package importedmodel

import (
	"fmt"

	"kir/mcmc"
)

// A ConditionedProperty scores a composition by one of several properties. The values of some
// conditions select the property: an example is one model for each temperature. There is one
// property for each combination of values. The properties themselves do not depend on conditions.
type ConditionedProperty struct {
	conditions  []int // indices of the conditions that select the property
	valueCounts []int // valueCounts[k] is the number of values of conditions[k]
	// one property for each combination of values; the value of the last condition varies fastest
	properties []mcmc.LineProperty
}

var _ mcmc.LineProperty = (*ConditionedProperty)(nil)

// NewConditioned returns a [ConditionedProperty]. The parameter conditions lists the indices of the
// conditions. The element valueCounts[k] is the number of values of conditions[k]. The parameter
// properties holds one property for each combination of values, in the order in which the value of
// the last condition varies fastest.
func NewConditioned(conditions, valueCounts []int, properties []mcmc.LineProperty) (*ConditionedProperty, error) {
	number := 1
	for _, n := range valueCounts {
		number *= n
	}
	if len(conditions) != len(valueCounts) || number != len(properties) {
		return nil, fmt.Errorf("%d properties for %d combinations of conditions", len(properties), number)
	}
	return &ConditionedProperty{conditions, valueCounts, properties}, nil
}

// Combination returns the index of the property that scores x. The index is that of the combination
// of values that the conditions have in x.
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

// Scorer returns a scorer of composition x. Every change of x must be announced to the scorer.
func (p *ConditionedProperty) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &conditionedScorer{property: p, x: x, scorers: make([]mcmc.Scorer, len(p.properties))}
}

// A conditionedScorer is the [mcmc.Scorer] of a [ConditionedProperty]. Of the scorers of the
// properties, only the scorer that the current values of the conditions select hears of changes
// of the composition.
type conditionedScorer struct {
	property *ConditionedProperty // the scored property
	x        *mcmc.Composition    // the composition
	scorers  []mcmc.Scorer        // scorer of each property; nil before the first use
	active   mcmc.Scorer          // the scorer that the current values of the conditions select
}

// resetScorer returns the scorer of the property with the given index. It first resets the scorer
// to the current amounts of the composition.
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

// Values implements [mcmc.ConditionScorer]: it adds to p the score for each value of condition c.
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
