package rounding

import (
	"math"
	"math/big"
	"slices"

	"kir/internal/constraint"
	"kir/rule"
)

// A roundingProblem asks how many whole steps of a scale to weigh of each ingredient of a recipe. The numbers of
// steps should be near the ideal numbers, and the rounded amounts must keep the rules of the recipe.
type roundingProblem struct {
	recipeParts         []rule.Part           // used ingredients of the recipe with their amounts, in units
	idealSteps          []float64             // item i is q_i, the number of steps of part i before rounding
	weights             []*big.Rat            // item i is the fraction of the batch that one step of part i makes up, up to a common factor
	batchSteps          int64                 // S, the number of steps of the whole batch
	total               int64                 // M, the total number of units of the recipe
	ruleText            func(rule int) string // returns the text of the rule with the given index; may be nil
	bounds              []roundingBound       // inequalities and grids that the rules impose
	densities           []*big.Rat            // item i is the weighed quantity of part i per unit of the recipe's measure, such as grams per millilitre; nil if both measures are the same
	maxPartialRoundings int                   // maximum number of partial roundings to look at
	maxDistance         int                   // maximum distance of an amount from the ideal amount, in steps
}

// A roundingBound is a condition of a rule on x_i, the number of steps of part i. Most bounds are inequalities
// Σ_i factor_i·x_i ≥ 0. Others are grids, which restrict one part to certain amounts, or bounds of a sum whose
// terms are not linear.
type roundingBound struct {
	factors       []*big.Rat // item i is factor_i, exactly; nil if the bound is not an inequality Σ_i factor_i·x_i ≥ 0
	scaledFactors []float64  // factors, divided by the greatest magnitude among them
	ruleIndex     int        // index of the rule that made the bound
	// If gridPeriod is not 0, the bound is a grid: the number of units of part gridPart must be gridFirst plus a
	// multiple of gridPeriod.
	gridPart, gridFirst, gridPeriod int
	// If nonlinearSum is not nil, the bound is the Min (boundSign 1) or the Max (boundSign −1) of this sum, which
	// has terms that are not linear in the amounts.
	nonlinearSum *constraint.Sum
	boundSign    int64 // 1 if the bound is the Min of nonlinearSum, −1 if the bound is the Max
}

// isLinear reports whether the bound is an inequality Σ_i factor_i·x_i ≥ 0.
func (b *roundingBound) isLinear() bool { return b.factors != nil }

// addRules translates the rules into bounds on steps. If part i has x_i steps and the weight w_i, then it has u_i
// = M·w_i·x_i / Σ_j w_j·x_j units. So lo ≤ Σ c_i·u_i becomes Σ (M·c_i − lo)·w_i·x_i ≥ 0.
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
	for k, p := range r.recipeParts {
		a := c.Amounts[p.Ingredient]
		own := make([]int64, len(r.recipeParts))
		own[k] = 1
		if a.Min > 1 {
			r.addLinearBound(ruleIndex, own, int64(a.Min), 1)
		}
		if a.Max > 0 && a.Max < c.Total {
			r.addLinearBound(ruleIndex, own, int64(a.Max), -1)
		}
		if a.Step > 1 {
			r.bounds = append(r.bounds, roundingBound{ruleIndex: ruleIndex, gridPart: k, gridFirst: a.Min, gridPeriod: a.Step})
		}
	}
	for _, g := range c.Groups {
		if g.Total == nil {
			continue
		}
		factors := make([]int64, len(r.recipeParts))
		for k, p := range r.recipeParts {
			if slices.Contains(g.Members, p.Ingredient) {
				factors[k] = 1
			}
		}
		r.addRange(ruleIndex, factors, int64(g.Total.Min), int64(g.Total.Max))
	}
	for _, s := range c.Sums {
		factors, constant, bent := make([]int64, len(r.recipeParts)), int64(0), false
		for _, t := range s.Terms {
			k := slices.IndexFunc(r.recipeParts, func(p rule.Part) bool { return p.Ingredient == t.Ingredient })
			if k < 0 {
				continue
			}
			factors[k] = t.PerUnit
			constant += t.PerUse
			bent = bent || t.IsBent()
		}
		if bent {
			if s.Min != math.MinInt64 {
				r.bounds = append(r.bounds, roundingBound{ruleIndex: ruleIndex, nonlinearSum: &s, boundSign: 1})
			}
			if s.Max != math.MaxInt64 {
				r.bounds = append(r.bounds, roundingBound{ruleIndex: ruleIndex, nonlinearSum: &s, boundSign: -1})
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

// addRange adds the bounds lo ≤ Σ factor_i·u_i ≤ hi for the rule with the given index, where u_i is the number of
// units of part i. A missing bound is math.MinInt64 or math.MaxInt64.
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

// addLinearBound adds the bound sign·(Σ factor_i·u_i − limit) ≥ 0 for the rule with the given index, where u_i is
// the number of units of part i.
func (r *roundingProblem) addLinearBound(ruleIndex int, factors []int64, limit int64, sign int64) {
	b := roundingBound{ruleIndex: ruleIndex}
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

// satisfiesBound reports whether a rounding satisfies the bound b, in exact arithmetic. Item i of steps is the
// number of steps of part i. If the weights of the parts differ, half a step of each part is tolerated.
func (r *roundingProblem) satisfiesBound(b *roundingBound, steps []int64) bool {
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

// satisfiesNonlinear does the work of [roundingProblem.satisfiesBound] for a bound with a nonlinearSum. The
// function units returns the number of units of part k, and tolerance is in units.
func (r *roundingProblem) satisfiesNonlinear(b *roundingBound, units func(k int) *big.Rat, tolerance *big.Rat) bool {
	sum, most := b.signedLimit(), int64(0)
	for _, t := range b.nonlinearSum.Terms {
		most = max(most, t.PerUnit, -t.PerUnit)
	}
	sum.Add(sum, tolerance.Mul(tolerance, new(big.Rat).SetInt64(most)))
	for k := range r.recipeParts {
		sum.Add(sum, r.nonlinearTerm(b, k, units(k)))
	}
	return sum.Sign() >= 0
}

// signedLimit returns the constant of a bound with a nonlinearSum: −Min (boundSign 1) or Max (boundSign −1). The
// bound is satisfied if the constant plus the nonlinearTerm of each part is at least 0.
func (b *roundingBound) signedLimit() *big.Rat {
	if b.boundSign > 0 {
		return new(big.Rat).Neg(new(big.Rat).SetInt64(b.nonlinearSum.Min))
	}
	return new(big.Rat).SetInt64(b.nonlinearSum.Max)
}

// nonlinearTerm returns boundSign times the term of a part in b.nonlinearSum, if the part has the given units.
func (r *roundingProblem) nonlinearTerm(b *roundingBound, part int, units *big.Rat) *big.Rat {
	v := new(big.Rat)
	for _, t := range b.nonlinearSum.Terms {
		if t.Ingredient != r.recipeParts[part].Ingredient {
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
	return v.Mul(v, new(big.Rat).SetInt64(b.boundSign))
}
