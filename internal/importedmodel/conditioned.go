package importedmodel

import (
	"fmt"

	"kir/mcmc"
)

// Conditioned scores a composition by one property for each combination of values of some conditions, such as a model
// at each temperature. The properties do not look at conditions themselves.
type Conditioned struct {
	conditions []int // indices of the conditions
	values     []int // of each: its number of values
	properties []mcmc.LineProperty
}

var _ mcmc.LineProperty = (*Conditioned)(nil)

// NewConditioned returns a [Conditioned]. conditions has the indices of the conditions, values how many values each
// has, and of a property for each combination, the value of the last condition varying fastest.
func NewConditioned(conditions, values []int, of []mcmc.LineProperty) (*Conditioned, error) {
	number := 1
	for _, n := range values {
		number *= n
	}
	if len(conditions) != len(values) || number != len(of) {
		return nil, fmt.Errorf("%d properties for %d combinations of conditions", len(of), number)
	}
	return &Conditioned{conditions, values, of}, nil
}

// Combination returns the index of the property that scores x.
func (p *Conditioned) Combination(x *mcmc.Composition) int {
	at := 0
	for k, c := range p.conditions {
		at = at*p.values[k] + x.Condition(c)
	}
	return at
}

// LogScore returns log y(x).
func (p *Conditioned) LogScore(x *mcmc.Composition) float64 {
	return p.properties[p.Combination(x)].LogScore(x)
}

// Scorer returns a scorer of x.
func (p *Conditioned) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &conditionedScorer{property: p, x: x, scorers: make([]mcmc.Scorer, len(p.properties))}
}

// A conditionedScorer keeps the scorer of the combination that its composition has in step with it.
type conditionedScorer struct {
	property *Conditioned
	x        *mcmc.Composition
	scorers  []mcmc.Scorer // by combination; nil until it is needed
	active   mcmc.Scorer
}

// at returns the scorer of a combination, which has taken over x.
func (s *conditionedScorer) at(combination int) mcmc.Scorer {
	if s.scorers[combination] == nil {
		s.scorers[combination] = s.property.properties[combination].Scorer(s.x)
	}
	s.scorers[combination].Reset()
	return s.scorers[combination]
}

func (s *conditionedScorer) Reset()                        { s.active = s.at(s.property.Combination(s.x)) }
func (s *conditionedScorer) LogScore() float64             { return s.active.LogScore() }
func (s *conditionedScorer) Line(i, j int, p *mcmc.Pieces) { s.active.Line(i, j, p) }
func (s *conditionedScorer) Moved(i, j int)                { s.active.Moved(i, j) }
func (s *conditionedScorer) ConditionSet(int)              { s.Reset() }

// Values implements [mcmc.ConditionScorer].
func (s *conditionedScorer) Values(c int, p *mcmc.Pieces) {
	own := s.property.Combination(s.x)
	stride, values := 1, 0
	for k := len(s.property.conditions) - 1; k >= 0; k-- {
		if s.property.conditions[k] == c {
			values = s.property.values[k]
			break
		}
		stride *= s.property.values[k]
	}
	if values == 0 {
		p.Add(0, s.active.LogScore())
		return
	}
	first := own - stride*s.x.Condition(c)
	for v := range values {
		at := s.active
		if combination := first + stride*v; combination != own {
			at = s.at(combination)
		}
		p.Add(v, at.LogScore())
	}
}
