package rounding

import (
	"math"
	"math/big"
	"slices"

	"kir/internal/constraint"
	"kir/rule"
)

// A roundingProblem asks for whole numbers of scale steps near the ideal numbers of steps of a recipe, within its
// rules.
type roundingProblem struct {
	parts       []rule.Part
	ideal       []float64  // ideal number of steps of each part, q
	weights     []*big.Rat // fraction of the batch that one step of each part makes up, up to a common factor
	sum         int64      // steps of the whole batch, S
	total       int64      // units of the recipe's total, M
	ruleText    func(rule int) string
	bounds      []bound
	density     []*big.Rat
	maxNodes    int // greatest number of partial roundings to visit
	maxDistance int // greatest distance of an amount from its ideal, in steps
}

// A bound is one inequality Σ_i factor_i·x_i ≥ 0 of a rule.
type bound struct {
	factors []*big.Rat
	floats  []float64
	rule    int
	// part, first and period describe a grid if period is not 0: the units of the part must be first plus a multiple
	// of period. The bound is then no inequality.
	part, first, period int
	// nonlinearSum, if not nil, is a sum of a rule that factors cannot express. The bound is then its Min (sign 1) or
	// its Max (sign −1).
	nonlinearSum *constraint.Sum
	sign         int64
}

// isLinear reports whether the bound is a sum of factors.
func (b *bound) isLinear() bool { return b.factors != nil }

// constrain translates the rules into bounds on steps. The steps x_i are u_i = M·w_i·x_i / Σ_j
// w_j·x_j units. So lo ≤ Σ c_i·u_i becomes Σ (M·c_i − lo)·w_i·x_i ≥ 0.
func (r *roundingProblem) constrain(rules rule.Set) error {
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

// addConditions adds the bounds that follow from the conditions c of rule number of.
func (r *roundingProblem) addConditions(c *constraint.Conditions, of int) {
	for k, p := range r.parts {
		a := c.Amounts[p.Ingredient]
		own := make([]int64, len(r.parts))
		own[k] = 1
		if a.Min > 1 {
			r.add(of, own, int64(a.Min), 1)
		}
		if a.Max > 0 && a.Max < c.Total {
			r.add(of, own, int64(a.Max), -1)
		}
		if a.Step > 1 {
			r.bounds = append(r.bounds, bound{rule: of, part: k, first: a.Min, period: a.Step})
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
		r.addRange(of, factors, int64(g.Total.Min), int64(g.Total.Max))
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
				r.bounds = append(r.bounds, bound{rule: of, nonlinearSum: &s, sign: 1})
			}
			if s.Max != math.MaxInt64 {
				r.bounds = append(r.bounds, bound{rule: of, nonlinearSum: &s, sign: -1})
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
		r.addRange(of, factors, lo, hi)
	}
}

// addRange adds, for rule number of, the bounds lo ≤ Σ factor_i·u_i ≤ hi on units.
func (r *roundingProblem) addRange(of int, factors []int64, lo, hi int64) {
	if !slices.ContainsFunc(factors, func(f int64) bool { return f != 0 }) {
		return
	}
	if lo != math.MinInt64 {
		r.add(of, factors, lo, 1)
	}
	if hi != math.MaxInt64 {
		r.add(of, factors, hi, -1)
	}
}

// add adds, for rule number of, the bound sign·(Σ factor_i·u_i − least) ≥ 0 on units.
func (r *roundingProblem) add(of int, factors []int64, least int64, sign int64) {
	b := bound{rule: of}
	m := big.NewInt(r.total)
	for k, f := range factors {
		v := new(big.Int).Mul(m, big.NewInt(f))
		v.Sub(v, big.NewInt(least)).Mul(v, big.NewInt(sign))
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
		b.floats = append(b.floats, v)
	}
	r.bounds = append(r.bounds, b)
}

// satisfies reports whether steps satisfy a bound, in exact arithmetic.
func (r *roundingProblem) satisfies(b *bound, steps []int64) bool {
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
	return half.Sign() > 0 || isOnGrid(units(b.part), b.first, b.period)
}

// isOnGrid reports whether units are first plus a whole multiple of period.
func isOnGrid(units *big.Rat, first, period int) bool {
	return units.IsInt() && (units.Num().Int64()-int64(first))%int64(period) == 0
}

// satisfiesNonlinear is [roundingProblem.satisfies] for a sum whose terms differ from unit to
// unit. room is the tolerance in units.
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

// signedLimit returns the constant of a nonlinear bound, to which the parts' terms are added, with the bound's sign.
func (b *bound) signedLimit() *big.Rat {
	if b.sign > 0 {
		return new(big.Rat).Neg(new(big.Rat).SetInt64(b.nonlinearSum.Min))
	}
	return new(big.Rat).SetInt64(b.nonlinearSum.Max)
}

// nonlinearTerm returns the contribution of a part's units to a nonlinear sum, with the
// bound's sign.
func (r *roundingProblem) nonlinearTerm(b *bound, part int, units *big.Rat) *big.Rat {
	v := new(big.Rat)
	for _, t := range b.nonlinearSum.Terms {
		if t.Ingredient != r.parts[part].Ingredient {
			continue
		}
		if t.Step > 1 && !isOnGrid(units, t.First, t.Step) {
			v.SetInt64(t.Off)
		}
		if limit := new(big.Rat).SetInt64(int64(t.Cap)); t.Cap > 0 && units.Cmp(limit) > 0 {
			units = limit
		}
		v.Add(v, new(big.Rat).Mul(units, new(big.Rat).SetInt64(t.PerUnit)))
		v.Add(v, new(big.Rat).SetInt64(t.PerUse))
	}
	return v.Mul(v, new(big.Rat).SetInt64(b.sign))
}
