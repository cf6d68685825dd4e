package property

import (
	"fmt"
	"math"
	"slices"

	"kir/mcmc"
)

// ConditionEncoder encodes the values of conditions, such as a temperature, as amounts of additional
// ingredients. A model that knows only amounts can thus learn from compositions and conditions together. The
// additional ingredients follow the ingredients of the composition:
//   - A numeric condition is one additional ingredient, whose amount increases with the number.
//   - Each category of a categorical condition is one additional ingredient. Its amount is fixed if the
//     category applies, and otherwise 0.
type ConditionEncoder struct {
	ingredientCount         int                 // number of ingredients of a composition, without the additional ingredients
	extendedIngredientCount int                 // number of ingredients including the additional ingredients of all conditions
	encodings               []conditionEncoding // item c is the encoding of condition c
}

// A conditionEncoding is the encoding of one condition by the amounts of its additional ingredients, whose indices
// are consecutive.
type conditionEncoding struct {
	firstExtraIngredient int       // index of the first additional ingredient of the condition
	amounts              [][]int32 // item v holds the amounts of the additional ingredients if the condition has its value with index v
	numberAmounts        []int32   // for a numeric condition: item v is the amount of the only additional ingredient for value v; otherwise nil
}

// NewConditions returns the encoding of conditions for compositions with the given number of ingredients.
// amounts[c][v] holds the amounts that encode value v of condition c. All values of a condition need the same
// number of amounts.
func NewConditions(ingredients int, amounts [][][]int32) (*ConditionEncoder, error) {
	c := &ConditionEncoder{ingredientCount: ingredients, extendedIngredientCount: ingredients}
	for k, values := range amounts {
		if len(values) == 0 || len(values[0]) == 0 {
			return nil, fmt.Errorf("condition %d has no values, or no ingredients that stand for them", k)
		}
		for v := range values {
			if len(values[v]) != len(values[0]) {
				return nil, fmt.Errorf("value %d of condition %d has %d amounts, and not %d", v, k, len(values[v]), len(values[0]))
			}
		}
		code := conditionEncoding{firstExtraIngredient: c.extendedIngredientCount, amounts: values}
		if len(values[0]) == 1 {
			for _, amount := range values {
				code.numberAmounts = append(code.numberAmounts, amount[0])
			}
			if !slices.IsSorted(code.numberAmounts) {
				code.numberAmounts = nil
			}
		}
		c.encodings = append(c.encodings, code)
		c.extendedIngredientCount += len(values[0])
	}
	return c, nil
}

// Extend returns x as a composition that also contains the additional ingredients, with the amounts that encode
// the values of the conditions of x.
func (c *ConditionEncoder) Extend(x *mcmc.Composition) *mcmc.Composition {
	parts := x.Parts()
	for k := range c.encodings {
		parts = c.encodings[k].appendParts(parts, x.Condition(k))
	}
	y, err := mcmc.NewComposition(c.extendedIngredientCount, parts...)
	if err != nil {
		panic("property: conditions do not fit the composition: " + err.Error()) // checked when they were made
	}
	return y
}

// Amounts returns the amounts of all ingredients: the amounts of x, followed by the amounts that encode the values
// of its conditions.
func (c *ConditionEncoder) Amounts(x *mcmc.Composition) []int32 {
	amounts := make([]int32, c.extendedIngredientCount)
	copy(amounts, x.Amounts())
	for k := range c.encodings {
		copy(amounts[c.encodings[k].firstExtraIngredient:], c.encodings[k].amounts[x.Condition(k)])
	}
	return amounts
}

// AppendParts appends to dst the additional ingredients that encode the conditions, with their amounts.
// values[c] is the index of the value of condition c.
func (c *ConditionEncoder) AppendParts(dst []mcmc.Part, values []int32) []mcmc.Part {
	for k := range c.encodings {
		dst = c.encodings[k].appendParts(dst, int(values[k]))
	}
	return dst
}

func (c *conditionEncoding) appendParts(parts []mcmc.Part, value int) []mcmc.Part {
	for at, amount := range c.amounts[value] {
		if amount > 0 {
			parts = append(parts, mcmc.Part{Ingredient: c.firstExtraIngredient + at, Amount: int(amount)})
		}
	}
	return parts
}

// Wrap turns the property p of extended compositions into a property of compositions: the score of x is the
// score that p gives to the extended composition of x; see [ConditionEncoder.Extend].
func (c *ConditionEncoder) Wrap(p mcmc.LineProperty) mcmc.LineProperty {
	return &conditionedProperty{c, p}
}

// conditionedProperty is the property that [ConditionEncoder.Wrap] returns. It scores a composition by the
// score of the extended composition.
type conditionedProperty struct {
	encoder  *ConditionEncoder
	property mcmc.LineProperty
}

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (p *conditionedProperty) LogScore(x *mcmc.Composition) float64 {
	return p.property.LogScore(p.encoder.Extend(x))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (p *conditionedProperty) Scorer(x *mcmc.Composition) mcmc.Scorer {
	y, err := mcmc.NewComposition(p.encoder.extendedIngredientCount)
	if err != nil {
		panic("property: " + err.Error()) // an empty composition may have any number of ingredients
	}
	s := &conditionedScorer{encoder: p.encoder, x: x, extended: y, scorer: p.property.Scorer(y)}
	switch of := s.scorer.(type) {
	case mcmc.CurveScorer:
		return &conditionedCurveScorer{s, of}
	case mcmc.SplitScorer:
		return &conditionedSplitScorer{s, of}
	}
	return s
}

// A conditionedScorer scores a composition x by a scorer of the extended composition; see
// [ConditionEncoder.Extend]. It changes the extended composition whenever x changes.
type conditionedScorer struct {
	encoder     *ConditionEncoder
	x, extended *mcmc.Composition
	scorer      mcmc.Scorer
	partBuffer  []mcmc.Part
}

// Reset copies x and its conditions to the extended composition.
func (s *conditionedScorer) Reset() {
	s.partBuffer = s.x.AppendParts(s.partBuffer[:0])
	for k := range s.encoder.encodings {
		s.partBuffer = s.encoder.encodings[k].appendParts(s.partBuffer, s.x.Condition(k))
	}
	panicOnImpossibleError(s.extended.SetParts(s.partBuffer...))
	s.scorer.Reset()
}

// panicOnImpossibleError panics if err is not nil. No error can occur here, because the values come from a valid
// composition.
func panicOnImpossibleError(err error) {
	if err != nil {
		panic("property: a composition with conditions went wrong: " + err.Error())
	}
}

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (s *conditionedScorer) LogScore() float64 { return s.scorer.LogScore() }

// Line adds to p the log scores of all divisions of the joint amount of ingredients i and j.
func (s *conditionedScorer) Line(i, j int, p *mcmc.PiecewiseConstant) { s.scorer.Line(i, j, p) }

// Moved copies the new amounts of ingredients i and j to the extended composition.
func (s *conditionedScorer) Moved(i, j int) {
	panicOnImpossibleError(s.extended.Move(i, j, s.x.Amount(i)))
	s.scorer.Moved(i, j)
}

// An amountsScorer is a scorer that scores several amounts of one ingredient in one call. The amount of this
// ingredient is not part of the total, as for the additional ingredient of a numeric condition.
type amountsScorer interface {
	scoreAmounts(i int, amounts []int32, p *mcmc.PiecewiseConstant)
}

// Values adds to p the log score of the composition with each value of condition c. For a numeric condition, a
// learnt model scores all values at once. Otherwise the extended composition takes each value in turn.
func (s *conditionedScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	code := &s.encoder.encodings[c]
	if of, ok := s.scorer.(amountsScorer); ok && code.numberAmounts != nil {
		of.scoreAmounts(code.firstExtraIngredient, code.numberAmounts, p)
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

// ConditionSet copies the new value of condition c from the composition to the extended composition.
func (s *conditionedScorer) ConditionSet(c int) { s.moveToValue(c, s.x.Condition(c)) }

// moveToValue sets condition c of the extended composition to the value with the given index, and updates the
// scorer of the extended composition.
func (s *conditionedScorer) moveToValue(c, value int) {
	code := &s.encoder.encodings[c]
	for at, amount := range code.amounts[value] {
		i := code.firstExtraIngredient + at
		if s.extended.Amount(i) != int(amount) {
			panicOnImpossibleError(s.extended.SetAmount(i, int(amount)))
			s.scorer.Moved(i, 0) // ingredient 0 has not changed
		}
	}
}

// conditionedCurveScorer is a conditionedScorer for a wrapped property whose scorers are [mcmc.CurveScorer]s.
// It then is a [mcmc.CurveScorer], too.
type conditionedCurveScorer struct {
	*conditionedScorer
	curveScorer mcmc.CurveScorer
}

func (s *conditionedCurveScorer) Curve(i, j int) (peak int) { return s.curveScorer.Curve(i, j) }
func (s *conditionedCurveScorer) ScoreAt(k int) float64     { return s.curveScorer.ScoreAt(k) }
func (s *conditionedCurveScorer) UpperBound(from, to int) float64 {
	return s.curveScorer.UpperBound(from, to)
}

// conditionedSplitScorer is a conditionedScorer for a wrapped property whose scorers are [mcmc.SplitScorer]s.
// It then is a [mcmc.SplitScorer], too.
type conditionedSplitScorer struct {
	*conditionedScorer
	splitScorer mcmc.SplitScorer
}

func (s *conditionedSplitScorer) Splits(i, j int, wanted, p *mcmc.PiecewiseConstant) {
	s.splitScorer.Splits(i, j, wanted, p)
}
