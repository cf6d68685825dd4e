package property

import (
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// ConditionEncoder encodes the values of conditions as amounts of additional ingredients, which follow the ingredients of
// the composition. A model learnt from compositions and conditions together thus predicts from both. A numeric
// condition is one additional ingredient, whose amount increases with the number. Each category of a categorical
// condition is one additional ingredient, with a fixed amount if the category applies and 0 if not.
type ConditionEncoder struct {
	ingredientCount int                 // number of ingredients of a composition, without the additional ingredients
	extendedCount   int                 // number of ingredients including the additional ingredients of all conditions
	encodings       []conditionEncoding // by condition: its encoding as amounts
}

// A conditionEncoding is the encoding of one condition by the amounts of its additional ingredients, whose indices
// are consecutive.
type conditionEncoding struct {
	firstIngredient int       // index of the first additional ingredient of the condition
	amounts         [][]int32 // by value of the condition: the amounts of its additional ingredients
	numberAmounts   []int32   // for a numeric condition, by value: the amount of its only additional ingredient; otherwise nil
}

// NewConditions returns the encoding of conditions for compositions with the given number of ingredients.
// amounts[c][v] holds the amounts that encode value v of condition c. All values of a condition need the same
// number of amounts.
func NewConditions(ingredients int, amounts [][][]int32) (*ConditionEncoder, error) {
	c := &ConditionEncoder{ingredientCount: ingredients, extendedCount: ingredients}
	for k, values := range amounts {
		if len(values) == 0 || len(values[0]) == 0 {
			return nil, fmt.Errorf("condition %d has no values, or no ingredients that stand for them", k)
		}
		for v := range values {
			if len(values[v]) != len(values[0]) {
				return nil, fmt.Errorf("value %d of condition %d has %d amounts, and not %d", v, k, len(values[v]), len(values[0]))
			}
		}
		code := conditionEncoding{firstIngredient: c.extendedCount, amounts: values}
		if len(values[0]) == 1 {
			for _, amount := range values {
				code.numberAmounts = append(code.numberAmounts, amount[0])
			}
			if !slices.IsSorted(code.numberAmounts) {
				code.numberAmounts = nil
			}
		}
		c.encodings = append(c.encodings, code)
		c.extendedCount += len(values[0])
	}
	return c, nil
}

// Extend returns x as a composition of all ingredients, including the additional ingredients that encode the values
// of its conditions.
func (c *ConditionEncoder) Extend(x *mcmc.Composition) *mcmc.Composition {
	parts := x.Parts()
	for k := range c.encodings {
		parts = c.encodings[k].appendParts(parts, x.Condition(k))
	}
	y, err := mcmc.NewComposition(c.extendedCount, parts...)
	if err != nil {
		panic("property: conditions do not fit the composition: " + err.Error()) // checked when they were made
	}
	return y
}

// Amounts returns the amounts of all ingredients: the amounts of x, followed by the amounts that encode the values
// of its conditions.
func (c *ConditionEncoder) Amounts(x *mcmc.Composition) []int32 {
	amounts := make([]int32, c.extendedCount)
	copy(amounts, x.Amounts())
	for k := range c.encodings {
		copy(amounts[c.encodings[k].firstIngredient:], c.encodings[k].amounts[x.Condition(k)])
	}
	return amounts
}

// AppendParts appends to dst the parts of the additional ingredients that encode the conditions. values[c] is the
// index of the value of condition c.
func (c *ConditionEncoder) AppendParts(dst []mcmc.Part, values []int32) []mcmc.Part {
	for k := range c.encodings {
		dst = c.encodings[k].appendParts(dst, int(values[k]))
	}
	return dst
}

func (c *conditionEncoding) appendParts(parts []mcmc.Part, value int) []mcmc.Part {
	for at, amount := range c.amounts[value] {
		if amount > 0 {
			parts = append(parts, mcmc.Part{Ingredient: c.firstIngredient + at, Amount: int(amount)})
		}
	}
	return parts
}

// Wrap returns the property that scores x as p scores the extended composition; see [ConditionEncoder.Extend].
func (c *ConditionEncoder) Wrap(p mcmc.LineProperty) mcmc.LineProperty {
	return &conditionedProperty{c, p}
}

// conditionedProperty is the property that [ConditionEncoder.Wrap] returns.
type conditionedProperty struct {
	conditions *ConditionEncoder
	property   mcmc.LineProperty
}

// LogScore returns log y(x), the logarithm of the score of x.
func (p *conditionedProperty) LogScore(x *mcmc.Composition) float64 {
	return p.property.LogScore(p.conditions.Extend(x))
}

// Scorer returns a new scorer that follows the composition x.
func (p *conditionedProperty) Scorer(x *mcmc.Composition) mcmc.Scorer {
	y, err := mcmc.NewComposition(p.conditions.extendedCount)
	if err != nil {
		panic("property: " + err.Error()) // an empty composition may have any number of ingredients
	}
	s := &conditionedScorer{conditions: p.conditions, x: x, extended: y, scorer: p.property.Scorer(y)}
	switch of := s.scorer.(type) {
	case mcmc.CurveScorer:
		return &conditionedCurveScorer{s, of}
	case mcmc.SplitScorer:
		return &conditionedSplitScorer{s, of}
	}
	return s
}

// A conditionedScorer keeps an extended composition, and a scorer of the extended composition, in step with the
// composition x.
type conditionedScorer struct {
	conditions  *ConditionEncoder
	x, extended *mcmc.Composition
	scorer      mcmc.Scorer
	partBuffer  []mcmc.Part
}

// Reset copies x and its conditions to the extended composition.
func (s *conditionedScorer) Reset() {
	s.partBuffer = s.x.AppendParts(s.partBuffer[:0])
	for k := range s.conditions.encodings {
		s.partBuffer = s.conditions.encodings[k].appendParts(s.partBuffer, s.x.Condition(k))
	}
	panicOnError(s.extended.SetParts(s.partBuffer...))
	s.scorer.Reset()
}

// panicOnError panics if err is not nil, which cannot happen for values copied from a valid composition.
func panicOnError(err error) {
	if err != nil {
		panic("property: a composition with conditions went wrong: " + err.Error())
	}
}

// LogScore returns log y(x), the logarithm of the score of x.
func (s *conditionedScorer) LogScore() float64 { return s.scorer.LogScore() }

// Line adds the scores of all splits of the line of ingredients i and j to p.
func (s *conditionedScorer) Line(i, j int, p *mcmc.PiecewiseConstant) { s.scorer.Line(i, j, p) }

// Moved copies the new amounts of i and j to the extended composition.
func (s *conditionedScorer) Moved(i, j int) {
	panicOnError(s.extended.Move(i, j, s.x.Amount(i)))
	s.scorer.Moved(i, j)
}

// An amountsScorer is a scorer that scores at once all amounts of an ingredient whose amount is not part of the
// total, such as the additional ingredient of a numeric condition.
type amountsScorer interface {
	scoreAmounts(i int, amounts []int32, p *mcmc.PiecewiseConstant)
}

// Values adds the score of each value of condition c to p. A learnt model scores all values of a numeric condition
// at once. Otherwise the scorer moves from each value to the next.
func (s *conditionedScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	code := &s.conditions.encodings[c]
	if of, ok := s.scorer.(amountsScorer); ok && code.numberAmounts != nil {
		of.scoreAmounts(code.firstIngredient, code.numberAmounts, p)
		return
	}
	last := math.NaN()
	for v := range code.amounts {
		s.moveToValue(c, v)
		if score := s.scorer.LogScore(); v == 0 || score != last {
			p.Add(v, score)
			last = score
		}
	}
	s.moveToValue(c, s.x.Condition(c))
}

// ConditionSet copies the new value of condition c from x to the extended composition.
func (s *conditionedScorer) ConditionSet(c int) { s.moveToValue(c, s.x.Condition(c)) }

// moveToValue sets condition c to the value with the given index, in the extended composition and in its scorer.
func (s *conditionedScorer) moveToValue(c, value int) {
	code := &s.conditions.encodings[c]
	for at, amount := range code.amounts[value] {
		i := code.firstIngredient + at
		if s.extended.Amount(i) != int(amount) {
			panicOnError(s.extended.SetAmount(i, int(amount)))
			s.scorer.Moved(i, 0) // ingredient 0 has not changed
		}
	}
}

// conditionedCurveScorer is a conditionedScorer that is also a [mcmc.CurveScorer], as the scorer of the wrapped
// property is.
type conditionedCurveScorer struct {
	*conditionedScorer
	curveScorer mcmc.CurveScorer
}

func (s *conditionedCurveScorer) Curve(i, j int) (peak int)  { return s.curveScorer.Curve(i, j) }
func (s *conditionedCurveScorer) At(k int) float64           { return s.curveScorer.At(k) }
func (s *conditionedCurveScorer) Above(from, to int) float64 { return s.curveScorer.Above(from, to) }

// conditionedSplitScorer is a conditionedScorer that is also a [mcmc.SplitScorer], as the scorer of the wrapped
// property is.
type conditionedSplitScorer struct {
	*conditionedScorer
	splitScorer mcmc.SplitScorer
}

func (s *conditionedSplitScorer) Splits(i, j int, wanted, p *mcmc.PiecewiseConstant) {
	s.splitScorer.Splits(i, j, wanted, p)
}
