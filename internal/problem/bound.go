package problem

import (
	"math"

	"kir/internal/bound"
	"kir/internal/condition"
	"kir/property"
)

// Properties say of themselves what they are at most in one of these ways, or in several.
type (
	// linear follows from a linear form of amounts and of uses, by ingredient.
	linear interface {
		Linear(ingredients int) (perUnit, perUse []float64, constant float64, d *property.Desirability)
	}
	// capped is at most so much where at most so many ingredients are used.
	capped interface {
		Most(used int) float64
	}
	// boxed is at most so much where each ingredient has from lo to hi units
	// and at most so many are used.
	boxed interface {
		Above(lo, hi []int32, used int) float64
		AboveCost() int64 // steps of about a nanosecond that it takes
	}
	// pieced is of pieces that are, and is at most what join makes of them.
	pieced interface {
		Pieces() (of []func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64), join func(above []float64) float64)
		LineCost() int64
	}
	// concave is nowhere above tangents.
	concave interface {
		Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64)
	}
	// formed is at most so much where most says what linear forms are at most.
	formed interface {
		Above(ingredients int, most func(perUnit, perUse []float64) float64) float64
	}
)

// bounding returns what is needed to bound the score, each property with weight 1 if it
// counts.
func (p *Problem) bounding() (*bound.Problem, error) {
	c, err := condition.Of(newRuleSet(&shelf{names: p.Ingredients, total: p.Total}, p.Rules).Set)
	if err != nil {
		return nil, err
	}
	b := &bound.Problem{Conditions: c}
	_, used := p.Target.Law().Support()
	for _, w := range p.Properties {
		if w.Weight == 0 {
			continue
		}
		b.Parts = append(b.Parts, partOf(w.Name, w.property, len(p.Ingredients), used))
	}
	return b, nil
}

// partOf returns a property as a part of a score.
func partOf(name string, of any, ingredients, used int) bound.Part {
	part := bound.Part{Name: name, Most: math.Inf(1)}
	if p, ok := of.(capped); ok {
		part.Most = p.Most(used)
	}
	if p, ok := of.(boxed); ok {
		part.Box, part.Cost = p.Above, p.AboveCost()
	}
	if p, ok := of.(pieced); ok {
		var pieces []func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64)
		pieces, part.Join = p.Pieces()
		part.Line = p.LineCost()
		for _, q := range pieces {
			part.Pieces = append(part.Pieces, q)
		}
	}
	if p, ok := of.(concave); ok {
		part.Tangent, part.Floor = p.Tangents()
	}
	if p, ok := of.(formed); ok {
		part.Over = func(most func(perUnit, perUse []float64) float64) float64 { return p.Above(ingredients, most) }
	}
	p, ok := of.(linear)
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

// stated says whether nothing that counts has been learnt from data: scores are what was
// written down.
func (p *Problem) stated() bool {
	for _, w := range p.Properties {
		if w.Weight > 0 && (w.Model != nil || w.learnt != nil || w.Taste != nil || w.Kind == "model") {
			return false
		}
	}
	return true
}
