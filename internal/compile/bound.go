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
	// linearBounded is implemented by a score that is a function of one linear form. The form is constant + Σ
	// perUnit[i]·amount[i] over all ingredients i + Σ perUse[i] over the used ingredients i. The result d is
	// the function.
	linearBounded interface {
		Linear(ingredients int) (perUnit, perUse []float64, constant float64, d *property.Desirability)
	}
	// countBounded is implemented by a score with an upper bound that depends on the number of ingredients.
	// Most returns the bound for compositions that use at most maxUsed ingredients.
	countBounded interface {
		Most(maxUsed int) float64
	}
	// boxBounded is implemented by a score with an upper bound over a box of compositions. UpperBound returns the
	// bound for all compositions in which every ingredient i has from lo[i] to hi[i] units and at most maxUsed
	// ingredients are used.
	boxBounded interface {
		UpperBound(lo, hi []int32, maxUsed int) float64
		UpperBoundCost() int64 // approximate time of a call of UpperBound, in nanoseconds
	}
	// pieceBounded is implemented by a score that is computed from several terms. Pieces returns one function
	// for each term, which gives an upper bound of the term over a box of compositions. The function join
	// combines the bounds of all terms into a bound of the score.
	pieceBounded interface {
		Pieces() (of []func(lo, hi []int32, maxUsed int) (above float64, steps int64, along int, by float64), join func(above []float64) float64)
		LineCost() int64 // approximate time to score all ways in which two ingredients share their amount, in nanoseconds
	}
	// tangentBounded is implemented by a score whose logarithm is concave. The function at that Tangents
	// returns computes the tangent to the logarithm at a composition x; the tangent is an upper bound. The
	// result floor is the least logarithm of the score, or −Inf if there is no least one.
	tangentBounded interface {
		Tangents() (at func(x []float64) (value float64, slope []float64, ok bool), floor float64)
	}
	// formBounded is implemented by a score whose upper bound follows from maxima of linear forms. UpperBound
	// computes the bound. It calls the function most to get the maximum of a linear form: perUnit has the
	// coefficients of the amounts, and perUse those of the uses of ingredients.
	formBounded interface {
		UpperBound(ingredients int, most func(perUnit, perUse []float64) float64) float64
	}
)

// The properties with bounds. An interface that one of them no longer implements would lose its bound unnoticed.
var (
	_ linearBounded  = (*property.Expression)(nil)
	_ countBounded   = (*property.Distance)(nil)
	_ countBounded   = (*property.Overlap)(nil)
	_ countBounded   = (*property.Pairs)(nil)
	_ boxBounded     = (*property.Forest)(nil)
	_ boxBounded     = (*property.Portfolio)(nil)
	_ pieceBounded   = (*property.Learned)(nil)
	_ tangentBounded = (*property.Portfolio)(nil)
	_ tangentBounded = (*property.Markowitz)(nil)
	_ formBounded    = (*property.Expression)(nil)
)

// boundProblem returns the problem in the form of package bound. Each property whose weight is not 0 becomes a
// factor with weight 1.
func (p *Problem) boundProblem() (*bound.Problem, error) {
	c, err := constraint.FromRules(newRuleSet(&readContext{Data: config.Data{IngredientNames: p.Ingredients, Total: p.Total}}, p.Rules).Set)
	if err != nil {
		return nil, err
	}
	b := &bound.Problem{Conditions: c}
	_, used := p.Target.Law().Support()
	for _, w := range p.Properties {
		if w.Weight == 0 {
			continue
		}
		b.Factors = append(b.Factors, newBoundFactor(w.Name, w.mcmcProperty, len(p.Ingredients), used))
	}
	return b, nil
}

// newBoundFactor converts a property to a factor of package bound, with the upper bounds that the property reports.
func newBoundFactor(name string, scoreProperty any, ingredients, used int) bound.Factor {
	part := bound.Factor{Name: name, UpperBound: math.Inf(1)}
	if p, ok := scoreProperty.(countBounded); ok {
		part.UpperBound = p.Most(used)
	}
	if p, ok := scoreProperty.(boxBounded); ok {
		part.Box, part.BoxWork = p.UpperBound, p.UpperBoundCost()
	}
	if p, ok := scoreProperty.(pieceBounded); ok {
		_, part.CombinePieceBounds = p.Pieces()
		part.LineWork = p.LineCost()
		part.Pieces = func() (pieces []bound.Piece) {
			of, _ := p.Pieces()
			for _, q := range of {
				pieces = append(pieces, q)
			}
			return pieces
		}
	}
	if p, ok := scoreProperty.(tangentBounded); ok {
		part.Tangent, part.MinLog = p.Tangents()
	}
	if p, ok := scoreProperty.(formBounded); ok {
		part.MaxOverForms = func(most func(perUnit, perUse []float64) float64) float64 { return p.UpperBound(ingredients, most) }
	}
	p, ok := scoreProperty.(linearBounded)
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
			Log: d.Log, Slope: slope, LogMaximizer: d.BestValue(), DomainLow: low, DomainHigh: high, Floor: floor,
		}
	}
	return part
}

// hasNoModel reports whether the problem file alone defines all scores. This is the case if no property with a
// positive weight was learnt from data.
func (p *Problem) hasNoModel() bool {
	for _, w := range p.Properties {
		if w.Weight > 0 && (w.Model != nil || w.learntModel != nil || w.Posterior != nil || w.Kind == "model") {
			return false
		}
	}
	return true
}
