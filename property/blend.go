package property

import (
	"fmt"
	"math"

	"kir/mcmc"
)

// Blend is the desirability of the mean of an attribute, weighted by amounts:
//
//	y(x) = d(Σ_i a_i·x_i / M)
//
// The mean has the attribute's own unit, such as percent of alcohol or cost a kilogram. With a_i =
// 1 for the ingredients of a group and 0 for the others, the mean is the group's share.
//
// The sum is exact, in whole numbers. A split of a line takes constant time. Attributes of at most
// 15 decimal places are exact as long as 10^places·M·max|a| < 2⁶². Others are rounded to 2⁻⁶¹·M of
// the largest.
type Blend struct {
	form  form
	whole float64 // value of form at which the mean of the attribute is 1
	d     *Desirability
}

var (
	_ mcmc.LineProperty = (*Blend)(nil)
	_ mcmc.CurveScorer  = (*blendScorer)(nil)
)

// NewBlend returns a [Blend]. attribute holds a finite value for each ingredient; total is M, the units of a
// composition.
func NewBlend(attribute []float64, total int, d *Desirability) (*Blend, error) {
	if err := checkFinite("the attribute of ingredient", attribute); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, fmt.Errorf("a blend needs a desirability")
	}
	b := &Blend{form: newForm(attribute, total), d: d}
	b.whole = float64(b.form.scale * float64(total))
	return b, nil
}

// As returns a blend of the same attribute with another desirability.
func (b *Blend) As(d *Desirability) *Blend {
	of := *b
	of.d = d
	return &of
}

// Mean returns the attribute's mean in x, weighted by amounts.
func (b *Blend) Mean(x *mcmc.Composition) float64 { return b.mean(b.form.value(x)) }

func (b *Blend) mean(sum int64) float64 { return float64(sum) / b.whole }

// Linear returns the mean as the linear form Σ perUnit_i·x_i, and the desirability of the mean. perUse is nil and
// constant is 0.
func (b *Blend) Linear(int) (perUnit, perUse []float64, constant float64, d *Desirability) {
	for _, a := range b.form.a {
		perUnit = append(perUnit, float64(a)/b.whole)
	}
	return perUnit, nil, 0, b.d
}

// LogScore returns log y(x).
func (b *Blend) LogScore(x *mcmc.Composition) float64 { return b.d.log(b.Mean(x)) }

// Scorer returns a scorer of x.
func (b *Blend) Scorer(x *mcmc.Composition) mcmc.Scorer {
	return &blendScorer{property: b, previousAmounts: previousAmounts{x: x}}
}

type blendScorer struct {
	property *Blend
	previousAmounts
	sum int64 // value of the property's form at the composition x

	at0, step int64 // set by Curve: the form's value at split 0, and its increment per unit from j to i
}

func (s *blendScorer) Reset() {
	s.previousAmounts.reset()
	s.sum = s.property.form.value(s.x)
}

func (s *blendScorer) LogScore() float64 { return s.property.d.log(s.property.mean(s.sum)) }

func (s *blendScorer) Line(i, j int, p *mcmc.Pieces) {
	b := s.property
	sum, step := b.form.line(s.x, s.sum, i, j)
	if step == 0 {
		p.Add(0, b.d.log(b.mean(sum)))
		return
	}
	q := joiner{pieces: p}
	for k := range s.x.Amount(i) + s.x.Amount(j) + 1 {
		q.add(k, b.d.log(b.mean(sum)))
		sum += step
	}
}

func (s *blendScorer) Curve(i, j int) (peak int) {
	b := s.property
	s.at0, s.step = b.form.line(s.x, s.sum, i, j)
	if k := math.Round((float64(b.d.best*b.whole) - float64(s.at0)) / float64(s.step)); 0 < k && k < float64(s.x.Amount(i)+s.x.Amount(j)) {
		return int(k)
	}
	return 0
}

// mean returns the mean at split k of the line that Curve prepared.
func (s *blendScorer) mean(k int) float64 { return s.property.mean(s.at0 + int64(k)*s.step) }

func (s *blendScorer) At(k int) float64 { return s.property.d.log(s.mean(k)) }

// Above returns an upper bound of the log score over the splits from..to. The mean is monotonic along the line, so
// the means at the two ends suffice.
func (s *blendScorer) Above(from, to int) float64 {
	return s.property.d.upperBound(s.mean(from), s.mean(to))
}

func (s *blendScorer) Moved(i, j int) {
	byI, byJ := s.previousAmounts.changes(i, j)
	a := s.property.form.a
	s.sum += int64(byI)*a[i] + int64(byJ)*a[j]
}
