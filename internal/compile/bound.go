package compile

import (
	"math"

	"kir/internal/bound"
	"kir/internal/config"
	"kir/internal/constraint"
	"kir/property"
)

// A property implements one or more of these interfaces to report upper bounds of its score.
type (
	// linearBounded is implemented by scores that are a function of a linear form of amounts and uses.
	// perUnit and perUse have a factor for each ingredient.
	linearBounded interface {
		Linear(ingredients int) (perUnit, perUse []float64, constant float64, d *property.Desirability)
	}
	// countBounded returns an upper bound over all compositions of at most used ingredients.
	countBounded interface {
		Most(used int) float64
	}
	// boxBounded returns an upper bound over a box: ingredient i has lo[i] to hi[i] units, and at most used
	// ingredients are used.
	boxBounded interface {
		Above(lo, hi []int32, used int) float64
		AboveCost() int64 // steps of about a nanosecond that Above takes
	}
	// pieceBounded bounds a score made of pieces. Each piece has an upper bound over a box, and join
	// combines these bounds into one of the score.
	pieceBounded interface {
		Pieces() (of []func(lo, hi []int32, used int) (above float64, steps int64, along int, by float64), join func(above []float64) float64)
		LineCost() int64
	}
	// tangentBounded returns tangents that are upper bounds of the logarithm of the score.
	tangentBounded interface {
		Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64)
	}
	// formBounded computes an upper bound from the maxima of linear forms, which the function most returns.
	formBounded interface {
		Above(ingredients int, most func(perUnit, perUse []float64) float64) float64
	}
)

// boundProblem returns the problem for package bound. Every property with a weight counts with weight 1.
func (p *Problem) boundProblem() (*bound.Problem, error) {
	c, err := constraint.FromRules(newRuleSet(&readContext{Data: config.Data{Names: p.Ingredients, Total: p.Total}}, p.Rules).Set)
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

// boundPart returns a property as a factor of the score, with the bounds that it reports.
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
			Log: d.Log, Slope: slope, Best: d.Best(), DomainLow: low, DomainHigh: high, Floor: floor,
		}
	}
	return part
}

// hasNoModel reports whether no property that counts was learnt from data, so that all scores are as the
// problem defines them.
func (p *Problem) hasNoModel() bool {
	for _, w := range p.Properties {
		if w.Weight > 0 && (w.Model != nil || w.learnt != nil || w.Posterior != nil || w.Kind == "model") {
			return false
		}
	}
	return true
}
