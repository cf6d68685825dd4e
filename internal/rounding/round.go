package rounding

import (
	"math"
	"math/big"
	"slices"

	"kir/internal/constraint"
	"kir/rule"
)

// A roundingProblem asks for whole numbers of scale steps near the ideal numbers of steps of a recipe. The
// rounded amounts must keep the rules of the recipe.
type roundingProblem struct {
	parts       []rule.Part           // parts of the recipe, in units
	idealSteps  []float64             // for each part: number of steps before rounding, q
	weights     []*big.Rat            // for each part: fraction of the batch that one step of the part makes up, up to a common factor
	batchSteps  int64                 // steps of the whole batch, S
	total       int64                 // total units of the recipe, M
	ruleText    func(rule int) string // text of the rule with an index; may be nil
	bounds      []bound               // inequalities and grids that the rules impose
	densities   []*big.Rat            // for each part: weighed quantity per unit of the recipe's measure; nil if both measures are the same
	maxNodes    int                   // maximum number of partial roundings to visit
	maxDistance int                   // maximum distance of an amount from its ideal, in steps
}

// A bound is one inequality Σ_i factor_i·x_i ≥ 0 of a rule on the numbers of steps x_i.
type bound struct {
	factors       []*big.Rat // factor of each part, exactly; nil unless the bound is such an inequality
	scaledFactors []float64  // factors divided by the greatest magnitude of a factor
	ruleIndex     int        // index of the rule
	// gridPart, gridFirst and gridPeriod describe a grid if gridPeriod is not 0: the units of part gridPart must
	// be gridFirst plus a multiple of gridPeriod. Then the bound is not an inequality.
	gridPart, gridFirst, gridPeriod int
	// nonlinearSum, if not nil, is a sum of a rule that factors cannot express. Then the bound is Min (sign 1)
	// or Max (sign −1) of the sum.
	nonlinearSum *constraint.Sum
	sign         int64
}

// isLinear reports whether the bound is an inequality Σ_i factor_i·x_i ≥ 0.
func (b *bound) isLinear() bool { return b.factors != nil }

// addRules translates the rules into bounds on steps. The steps x_i are u_i = M·w_i·x_i / Σ_j w_j·x_j units,
// where w_i is the weight of part i. So lo ≤ Σ c_i·u_i becomes Σ (M·c_i − lo)·w_i·x_i ≥ 0.
func (r *roundingProblem) addRules(rules rule.Set) error {
	for k, one := range rules.Rules {
		alone := rules
		alone.Rules = []rule.Rule{one}
		c, err := constraint.FromRules(alone)
		if err != nil {
			return err
		}
		r.addConditions(c, k)
	}
	return nil
}

// addConditions adds the bounds that follow from c, the conditions of the rule with the given index.
func (r *roundingProblem) addConditions(c *constraint.Conditions, ruleIndex int) {
	for k, p := range r.parts {
		a := c.Amounts[p.Ingredient]
		own := make([]int64, len(r.parts))
		own[k] = 1
		if a.Min > 1 {
			r.addLinearBound(ruleIndex, own, int64(a.Min), 1)
		}
		if a.Max > 0 && a.Max < c.Total {
			r.addLinearBound(ruleIndex, own, int64(a.Max), -1)
		}
		if a.Step > 1 {
			r.bounds = append(r.bounds, bound{ruleIndex: ruleIndex, gridPart: k, gridFirst: a.Min, gridPeriod: a.Step})
		}
	}
	for _, g := range c.Groups {
		if g.Total == nil {
			continue
		}
		factors := make([]int64, len(r.parts))
		for k, p := range r.parts {
			if slices.Contains(g.Members, p.Ingredient) {
				factors[k] = 1
			}
		}
		r.addRange(ruleIndex, factors, int64(g.Total.Min), int64(g.Total.Max))
	}
	for _, s := range c.Sums {
		factors, constant, bent := make([]int64, len(r.parts)), int64(0), false
		for _, t := range s.Terms {
			k := slices.IndexFunc(r.parts, func(p rule.Part) bool { return p.Ingredient == t.Ingredient })
			if k < 0 {
				continue
			}
			factors[k] = t.PerUnit
			constant += t.PerUse
			bent = bent || t.IsBent()
		}
		if bent {
			if s.Min != math.MinInt64 {
				r.bounds = append(r.bounds, bound{ruleIndex: ruleIndex, nonlinearSum: &s, sign: 1})
			}
			if s.Max != math.MaxInt64 {
				r.bounds = append(r.bounds, bound{ruleIndex: ruleIndex, nonlinearSum: &s, sign: -1})
			}
			continue
		}
		lo, hi := s.Min, s.Max
		if lo != math.MinInt64 {
			lo -= constant
		}
		if hi != math.MaxInt64 {
			hi -= constant
		}
		r.addRange(ruleIndex, factors, lo, hi)
	}
}

// addRange adds the bounds lo ≤ Σ factor_i·u_i ≤ hi on the units u_i, for the rule with the given index.
func (r *roundingProblem) addRange(ruleIndex int, factors []int64, lo, hi int64) {
	if !slices.ContainsFunc(factors, func(f int64) bool { return f != 0 }) {
		return
	}
	if lo != math.MinInt64 {
		r.addLinearBound(ruleIndex, factors, lo, 1)
	}
	if hi != math.MaxInt64 {
		r.addLinearBound(ruleIndex, factors, hi, -1)
	}
}

// addLinearBound adds the bound sign·(Σ factor_i·u_i − limit) ≥ 0 on the units u_i, for the rule with the given
// index.
func (r *roundingProblem) addLinearBound(ruleIndex int, factors []int64, limit int64, sign int64) {
	b := bound{ruleIndex: ruleIndex}
	m := big.NewInt(r.total)
	for k, f := range factors {
		v := new(big.Int).Mul(m, big.NewInt(f))
		v.Sub(v, big.NewInt(limit)).Mul(v, big.NewInt(sign))
		factor := new(big.Rat).SetInt(v)
		factor.Mul(factor, r.weights[k])
		b.factors = append(b.factors, factor)
	}
	// Scale the factors to about 1, so that the floats of all bounds are comparable.
	top := new(big.Rat)
	for _, f := range b.factors {
		if a := new(big.Rat).Abs(f); a.Cmp(top) > 0 {
			top = a
		}
	}
	for _, f := range b.factors {
		v := 0.0
		if top.Sign() > 0 {
			v, _ = new(big.Rat).Quo(f, top).Float64()
		}
		b.scaledFactors = append(b.scaledFactors, v)
	}
	r.bounds = append(r.bounds, b)
}

// satisfiesBound reports whether the numbers of steps satisfy a bound, in exact arithmetic. If the weights of
// the parts differ, half a step of each part is tolerated.
func (r *roundingProblem) satisfiesBound(b *bound, steps []int64) bool {
	sum, term := new(big.Rat), new(big.Rat)
	factors := b.factors
	if !b.isLinear() {
		factors = r.weights
	}
	for k, x := range steps {
		sum.Add(sum, term.Mul(factors[k], term.SetInt64(x)))
	}
	half := new(big.Rat) // tolerance in units: half a step of each part
	if !r.hasUniformWeights() {
		for _, f := range factors {
			half.Add(half, term.Abs(f))
		}
		half.Mul(half, big.NewRat(1, 2))
	}
	units := func(k int) *big.Rat {
		u := new(big.Rat).SetInt64(r.total * steps[k])
		return u.Mul(u, r.weights[k]).Quo(u, sum)
	}
	switch {
	case b.isLinear():
		return sum.Add(sum, half).Sign() >= 0
	case b.nonlinearSum != nil:
		return r.satisfiesNonlinear(b, units, half.Mul(half, new(big.Rat).SetInt64(r.total)).Quo(half, sum))
	}
	return half.Sign() > 0 || isOnGrid(units(b.gridPart), b.gridFirst, b.gridPeriod)
}

// isOnGrid reports whether units is first plus a whole multiple of period.
func isOnGrid(units *big.Rat, first, period int) bool {
	return units.IsInt() && (units.Num().Int64()-int64(first))%int64(period) == 0
}

// satisfiesNonlinear does the work of [roundingProblem.satisfiesBound] for a bound with a nonlinearSum, whose
// terms differ from unit to unit. The function units returns the units of part k, and room is the tolerance in
// units.
func (r *roundingProblem) satisfiesNonlinear(b *bound, units func(k int) *big.Rat, room *big.Rat) bool {
	sum, most := b.signedLimit(), int64(0)
	for _, t := range b.nonlinearSum.Terms {
		most = max(most, t.PerUnit, -t.PerUnit)
	}
	sum.Add(sum, room.Mul(room, new(big.Rat).SetInt64(most)))
	for k := range r.parts {
		sum.Add(sum, r.nonlinearTerm(b, k, units(k)))
	}
	return sum.Sign() >= 0
}

// signedLimit returns the constant of a nonlinear bound, with the sign of the bound. The terms of the parts are
// added to the constant.
func (b *bound) signedLimit() *big.Rat {
	if b.sign > 0 {
		return new(big.Rat).Neg(new(big.Rat).SetInt64(b.nonlinearSum.Min))
	}
	return new(big.Rat).SetInt64(b.nonlinearSum.Max)
}

// nonlinearTerm returns the contribution of a part's units to a nonlinear sum, with the sign of the bound.
func (r *roundingProblem) nonlinearTerm(b *bound, part int, units *big.Rat) *big.Rat {
	v := new(big.Rat)
	for _, t := range b.nonlinearSum.Terms {
		if t.Ingredient != r.parts[part].Ingredient {
			continue
		}
		if t.Step > 1 && !isOnGrid(units, t.FirstStep, t.Step) {
			v.SetInt64(t.OffStepAddend)
		}
		if limit := new(big.Rat).SetInt64(int64(t.Cap)); t.Cap > 0 && units.Cmp(limit) > 0 {
			units = limit
		}
		v.Add(v, new(big.Rat).Mul(units, new(big.Rat).SetInt64(t.PerUnit)))
		v.Add(v, new(big.Rat).SetInt64(t.PerUse))
	}
	return v.Mul(v, new(big.Rat).SetInt64(b.sign))
}
