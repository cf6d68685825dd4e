package property

import (
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// Conditions encodes the values of conditions as amounts of additional ingredients, which follow those of the
// composition. A model learnt from both thus predicts from both. A numeric condition is one ingredient, whose amount
// rises with the number. A category is one ingredient, with all of its amount or nothing.
type Conditions struct {
	ingredients int // number of ingredients of a composition, without conditions
	all         int // number of ingredients including those of conditions
	codes       []conditionCode
}

// A conditionCode is the encoding of one condition: the index of its first ingredient, and their amounts for each
// value.
type conditionCode struct {
	first   int
	amounts [][]int32 // amounts of the condition's ingredients, by the value's index
	number  []int32   // for a number: the amount of its only ingredient, by the value's index; otherwise nil
}

// NewConditions returns the encoding for compositions of the given number of ingredients. amounts[c][v] holds the
// amounts that encode value v of condition c, equally many for each value.
func NewConditions(ingredients int, amounts [][][]int32) (*Conditions, error) {
	c := &Conditions{ingredients: ingredients, all: ingredients}
	for k, values := range amounts {
		if len(values) == 0 || len(values[0]) == 0 {
			return nil, fmt.Errorf("condition %d has no values, or no ingredients that stand for them", k)
		}
		for v := range values {
			if len(values[v]) != len(values[0]) {
				return nil, fmt.Errorf("value %d of condition %d has %d amounts, and not %d", v, k, len(values[v]), len(values[0]))
			}
		}
		code := conditionCode{first: c.all, amounts: values}
		if len(values[0]) == 1 {
			for _, amount := range values {
				code.number = append(code.number, amount[0])
			}
			if !slices.IsSorted(code.number) {
				code.number = nil
			}
		}
		c.codes = append(c.codes, code)
		c.all += len(values[0])
	}
	return c, nil
}

// Extend returns the composition of all ingredients: the amounts of x, and those that encode its conditions.
func (c *Conditions) Extend(x *mcmc.Composition) *mcmc.Composition {
	parts := x.Parts()
	for k := range c.codes {
		parts = c.codes[k].appendParts(parts, x.Condition(k))
	}
	y, err := mcmc.NewComposition(c.all, parts...)
	if err != nil {
		panic("property: conditions do not fit the composition: " + err.Error()) // checked when they were made
	}
	return y
}

// Amounts returns the amounts of all ingredients: those of x, and those that encode its conditions.
func (c *Conditions) Amounts(x *mcmc.Composition) []int32 {
	amounts := make([]int32, c.all)
	copy(amounts, x.Amounts())
	for k := range c.codes {
		copy(amounts[c.codes[k].first:], c.codes[k].amounts[x.Condition(k)])
	}
	return amounts
}

// AppendParts appends the parts of the further ingredients that encode values of the conditions, given their indices.
func (c *Conditions) AppendParts(dst []mcmc.Part, values []int32) []mcmc.Part {
	for k := range c.codes {
		dst = c.codes[k].appendParts(dst, int(values[k]))
	}
	return dst
}

func (c *conditionCode) appendParts(parts []mcmc.Part, value int) []mcmc.Part {
	for at, amount := range c.amounts[value] {
		if amount > 0 {
			parts = append(parts, mcmc.Part{Ingredient: c.first + at, Amount: int(amount)})
		}
	}
	return parts
}

// Wrap returns the property whose score of x is p's score of the extended composition.
func (c *Conditions) Wrap(p mcmc.LineProperty) mcmc.LineProperty { return &conditioned{c, p} }

// conditioned is the property that [Conditions.Wrap] returns.
type conditioned struct {
	conditions *Conditions
	property   mcmc.LineProperty
}

// LogScore returns log y(x).
func (p *conditioned) LogScore(x *mcmc.Composition) float64 {
	return p.property.LogScore(p.conditions.Extend(x))
}

// Scorer returns a scorer of x.
func (p *conditioned) Scorer(x *mcmc.Composition) mcmc.Scorer {
	y, err := mcmc.NewComposition(p.conditions.all)
	if err != nil {
		panic("property: " + err.Error()) // an empty composition may have any number of ingredients
	}
	s := &conditionedScorer{conditions: p.conditions, x: x, y: y, scorer: p.property.Scorer(y)}
	switch of := s.scorer.(type) {
	case mcmc.CurveScorer:
		return &conditionedCurve{s, of}
	case mcmc.SplitScorer:
		return &conditionedSplits{s, of}
	}
	return s
}

// A conditionedScorer keeps an extended composition and its scorer in step with x.
type conditionedScorer struct {
	conditions *Conditions
	x, y       *mcmc.Composition
	scorer     mcmc.Scorer
	parts      []mcmc.Part
}

// Reset copies x and its conditions to the extended composition.
func (s *conditionedScorer) Reset() {
	s.parts = s.x.AppendParts(s.parts[:0])
	for k := range s.conditions.codes {
		s.parts = s.conditions.codes[k].appendParts(s.parts, s.x.Condition(k))
	}
	mustSet(s.y.SetParts(s.parts...))
	s.scorer.Reset()
}

// mustSet panics if err is not nil, which cannot happen for values copied from a valid composition.
func mustSet(err error) {
	if err != nil {
		panic("property: a composition with conditions went wrong: " + err.Error())
	}
}

// LogScore returns log y(x).
func (s *conditionedScorer) LogScore() float64 { return s.scorer.LogScore() }

// Line adds the scores of the line of i and j.
func (s *conditionedScorer) Line(i, j int, p *mcmc.Pieces) { s.scorer.Line(i, j, p) }

// Moved copies the new amounts of i and j to the extended composition.
func (s *conditionedScorer) Moved(i, j int) {
	mustSet(s.y.Move(i, j, s.x.Amount(i)))
	s.scorer.Moved(i, j)
}

// A columnScorer scores at once all amounts of an ingredient that does not share the total.
type columnScorer interface {
	column(i int, amounts []int32, p *mcmc.Pieces)
}

// Values adds the score of each value of condition c to p. A learnt model scores all values of a number at once.
// Otherwise the scorer moves from each value to the next.
func (s *conditionedScorer) Values(c int, p *mcmc.Pieces) {
	code := &s.conditions.codes[c]
	if of, ok := s.scorer.(columnScorer); ok && code.number != nil {
		of.column(code.first, code.number, p)
		return
	}
	last := math.NaN()
	for v := range code.amounts {
		s.follow(c, v)
		if score := s.scorer.LogScore(); v == 0 || score != last {
			p.Add(v, score)
			last = score
		}
	}
	s.follow(c, s.x.Condition(c))
}

// ConditionSet copies the new value of condition c to the extended composition.
func (s *conditionedScorer) ConditionSet(c int) { s.follow(c, s.x.Condition(c)) }

// follow moves the extended composition and its scorer to a value of condition c.
func (s *conditionedScorer) follow(c, value int) {
	code := &s.conditions.codes[c]
	for at, amount := range code.amounts[value] {
		i := code.first + at
		if s.y.Amount(i) != int(amount) {
			mustSet(s.y.SetAmount(i, int(amount)))
			s.scorer.Moved(i, 0) // ingredient 0 has not changed
		}
	}
}

// conditionedCurve is a conditionedScorer of a property whose lines are curves.
type conditionedCurve struct {
	*conditionedScorer
	curve mcmc.CurveScorer
}

func (s *conditionedCurve) Curve(i, j int) (peak int)  { return s.curve.Curve(i, j) }
func (s *conditionedCurve) At(k int) float64           { return s.curve.At(k) }
func (s *conditionedCurve) Above(from, to int) float64 { return s.curve.Above(from, to) }

// conditionedSplits is a conditionedScorer of a property that scores only wanted splits.
type conditionedSplits struct {
	*conditionedScorer
	scorer mcmc.SplitScorer
}

func (s *conditionedSplits) Splits(i, j int, wanted, p *mcmc.Pieces) {
	s.scorer.Splits(i, j, wanted, p)
}
