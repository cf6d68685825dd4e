package problem

import (
	"math"

	"kir/internal/bound"
	"kir/internal/condition"
	"kir/property"
)

// Properties say of themselves what they are at most in one of these ways, or in several.
type (
	// linearBounded follows from a linear form of amounts and of uses, by ingredient.
	linearBounded interface {
		Linear(ingredients int) (perUnit, perUse []float64, constant float64, d *property.Desirability)
	}
	// countBounded is at most so much where at most so many ingredients are used.
	countBounded interface {
		Most(used int) float64
	}
	// boxBounded is at most so much where each ingredient has from lo to hi units
	// and at most so many are used.
	boxBounded interface {
		Above(lo, hi []int32, used int) float64
		AboveCost() int64 // steps of about a nanosecond that it takes
	}
	// pieceBounded is of pieces that are, and is at most what join makes of them.
	pieceBounded interface {
		Pieces() (of []func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64), join func(above []float64) float64)
		LineCost() int64
	}
	// tangentBounded is nowhere above tangents.
	tangentBounded interface {
		Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64)
	}
	// formBounded is at most so much where most says what linear forms are at most.
	formBounded interface {
		Above(ingredients int, most func(perUnit, perUse []float64) float64) float64
	}
)

// boundProblem returns what is needed to bound the score, each property with weight 1 if it
// counts.
func (p *Problem) boundProblem() (*bound.Problem, error) {
	c, err := condition.FromRules(newRuleSet(&readContext{names: p.Ingredients, total: p.Total}, p.Rules).Set)
	if err != nil {
		return nil, err
	}
	b := &bound.Problem{Conditions: c}
	_, used := p.Target.Law().Support()
	for _, w := range p.Properties {
		if w.Weight == 0 {
			continue
		}
		b.Factors = append(b.Factors, boundPart(w.Name, w.property, len(p.Ingredients), used))
	}
	return b, nil
}

// boundPart returns a property as a part of a score.
func boundPart(name string, of any, ingredients, used int) bound.Factor {
	part := bound.Factor{Name: name, Most: math.Inf(1)}
	if p, ok := of.(countBounded); ok {
		part.Most = p.Most(used)
	}
	if p, ok := of.(boxBounded); ok {
		part.Box, part.Cost = p.Above, p.AboveCost()
	}
	if p, ok := of.(pieceBounded); ok {
		var pieces []func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64)
		pieces, part.JoinPieces = p.Pieces()
		part.LineCost = p.LineCost()
		for _, q := range pieces {
			part.Pieces = append(part.Pieces, q)
		}
	}
	if p, ok := of.(tangentBounded); ok {
		part.Tangent, part.Floor = p.Tangents()
	}
	if p, ok := of.(formBounded); ok {
		part.MaxOverForms = func(most func(perUnit, perUse []float64) float64) float64 { return p.Above(ingredients, most) }
	}
	p, ok := of.(linearBounded)
	if !ok {
		return part
	}
	perUnit, perUse, constant, d := p.Linear(ingredients)
	if perUnit == nil {
		return part
	}
	slope, low, high, floor, ok := d.Concave()
	if ok {
		part.Linear = &bound.Linear{
			PerUnit: perUnit, PerUse: perUse, Constant: constant,
			Log: d.Log, Slope: slope, Best: d.Best(), Low: low, High: high, Floor: floor,
		}
	}
	return part
}

// hasNoModel says whether nothing that counts has been learnt from data: scores are what was
// written down.
func (p *Problem) hasNoModel() bool {
	for _, w := range p.Properties {
		if w.Weight > 0 && (w.Model != nil || w.learnt != nil || w.Posterior != nil || w.Kind == "model") {
			return false
		}
	}
	return true
}
