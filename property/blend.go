package property

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// Blend scores a composition by the mean of an attribute of the ingredients, weighted by amounts:
//
//	y(x) = d(Σ_i a_i·x_i / M)
//
// In the formula, a_i is the attribute of ingredient i, x_i the units of ingredient i, and M the total. d is a
// [Desirability], which turns the mean into a score.
//
// The mean has the unit of the attribute, such as percent of alcohol or cost per kilogram. If a_i is 1 for the
// ingredients of a group and 0 for all other ingredients, the mean is the share of the group.
//
// The sum Σ a_i·x_i is computed exactly, in whole numbers. Scoring one division of the joint amount of two
// ingredients takes constant time. Attributes of at most 15 decimal places are stored exactly if
// 10^places·M·max|a| < 2⁶². Other attributes are rounded to multiples of 2⁻⁶¹·M·max|a| or finer.
type Blend struct {
	form         linearForm
	formPerMean  float64 // value of form divided by the mean of the attribute
	desirability *Desirability
}

var (
	_ mcmc.LineProperty = (*Blend)(nil)
	_ mcmc.CurveScorer  = (*blendScorer)(nil)
)

// NewBlend returns a [Blend]. The slice attribute holds a finite value for each ingredient. total is M, the
// units of a composition. NewBlend returns an error if a value is not finite or the desirability is nil.
func NewBlend(attribute []float64, total int, desirability *Desirability) (*Blend, error) {
	if err := checkFinite("the attribute of ingredient", attribute); err != nil {
		return nil, err
	}
	if desirability == nil {
		return nil, fmt.Errorf("a blend needs a desirability")
	}
	b := &Blend{form: newLinearForm(attribute, total), desirability: desirability}
	b.formPerMean = float64(b.form.scale * float64(total))
	return b, nil
}

// WithDesirability returns a copy of the blend that scores the mean of the attribute by the given desirability.
func (b *Blend) WithDesirability(desirability *Desirability) *Blend {
	of := *b
	of.desirability = desirability
	return &of
}

// Mean returns the mean of the attribute in x, weighted by amounts.
func (b *Blend) Mean(x *mcmc.Composition) float64 { return b.meanFromForm(b.form.scaledValue(x)) }

func (b *Blend) meanFromForm(sum int64) float64 { return float64(sum) / b.formPerMean }

// Linear returns the mean as the linear form Σ perUnit_i·x_i, where x_i is the units of ingredient i, and the
// desirability of the mean. The results perUse and constant, which a mean does not need, are nil and 0.
func (b *Blend) Linear(int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	for _, a := range b.form.coefficients {
		perUnit = append(perUnit, float64(a)/b.formPerMean)
	}
	return perUnit, nil, 0, b.desirability
}

// LogScore returns log y(x), the natural logarithm of the score y of the composition x.
func (b *Blend) LogScore(x *mcmc.Composition) float64 {
	return b.desirability.logDesirability(b.Mean(x))
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (b *Blend) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &blendScorer{property: b, previousAmounts: previousAmounts{x: x}}
}

type blendScorer struct {
	property *Blend
	previousAmounts
	formValue int64 // value of the linear form of the property at the composition x

	valueAt0  int64 // set by Curve: value of the linear form if ingredient i has none of the joint amount of i and j
	valueStep int64 // set by Curve: increase of the linear form for each unit moved from ingredient j to i
}

func (s *blendScorer) Reset() {
	s.previousAmounts.reset()
	s.formValue = s.property.form.scaledValue(s.x)
}

func (s *blendScorer) LogScore() float64 {
	return s.property.desirability.logDesirability(s.property.meanFromForm(s.formValue))
}

func (s *blendScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	b := s.property
	sum, step := b.form.valueAlongLine(s.x, s.formValue, i, j)
	if step == 0 {
		p.Add(0, b.desirability.logDesirability(b.meanFromForm(sum)))
		return
	}
	q := pieceJoiner{pieces: p}
	for k := range s.x.Amount(i) + s.x.Amount(j) + 1 {
		q.add(k, b.desirability.logDesirability(b.meanFromForm(sum)))
		sum += step
	}
}

func (s *blendScorer) Curve(i, j int) (peak int) {
	b := s.property
	s.valueAt0, s.valueStep = b.form.valueAlongLine(s.x, s.formValue, i, j)
	if k := math.Round((float64(b.desirability.bestValue*b.formPerMean) - float64(s.valueAt0)) / float64(s.valueStep)); 0 < k && k < float64(s.x.Amount(i)+s.x.Amount(j)) {
		return int(k)
	}
	return 0
}

// meanAtSplit returns the mean of the attribute if ingredient i has k units of the joint amount of i and j.
// Curve has set i and j.
func (s *blendScorer) meanAtSplit(k int) float64 {
	return s.property.meanFromForm(s.valueAt0 + int64(k)*s.valueStep)
}

func (s *blendScorer) ScoreAt(k int) float64 {
	return s.property.desirability.logDesirability(s.meanAtSplit(k))
}

// UpperBound returns an upper bound of the log score if ingredient i has between from and to units of the joint
// amount of ingredients i and j. The mean changes monotonically with the units of i, so the means at both ends
// suffice.
func (s *blendScorer) UpperBound(from, to int) float64 {
	return s.property.desirability.upperBound(s.meanAtSplit(from), s.meanAtSplit(to))
}

func (s *blendScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.updateAndReturnChanges(i, j)
	a := s.property.form.coefficients
	s.formValue += int64(byI)*a[i] + int64(byJ)*a[j]
}
