package condition

import (
	"math"
	"slices"

	"kir/rule"
)

type limitRule rule.Limit

// members returns the ingredients that the mean is over.
func (r limitRule) members() []int {
	if r.Of != nil {
		return alike(r.Of, Term{}).ingredients()
	}
	all := make([]int, len(r.Factors))
	for i := range all {
		all[i] = i
	}
	return all
}

// scale is as scaleOf says, and top the greatest factor.
func (r limitRule) scale(total int) (scale, top float64) {
	for _, f := range r.Factors {
		top = max(top, math.Abs(f))
	}
	if r.Of == nil {
		return scaleOf(top, total), top
	}
	return scaleOf(float64(2*top)+1, total), top // a bound is taken off the factors
}

func (r limitRule) conditions(c *Conditions) {
	scale, top := r.scale(c.Total)
	if r.Of == nil {
		s := Sum{Min: wholeBound(r.Min, scale, c.Total), Max: wholeBound(r.Max, scale, c.Total)}
		for i, f := range r.Factors {
			if f := Whole(f, scale); f != 0 {
				s.Terms = append(s.Terms, Term{Ingredient: i, PerUnit: f})
			}
		}
		c.addSum(s)
		return
	}
	over := func(bound float64) Sum { // Σ (f_i − bound)·x_i
		var s Sum
		by := Whole(min(max(bound, -top-1), top+1), scale)
		for _, i := range r.members() {
			if f := Whole(r.Factors[i], scale) - by; f != 0 {
				s.Terms = append(s.Terms, Term{Ingredient: i, PerUnit: f})
			}
		}
		return s
	}
	if !math.IsInf(r.Min, -1) {
		s := over(r.Min)
		s.Max = math.MaxInt64
		c.addSum(s)
	}
	if !math.IsInf(r.Max, 1) {
		s := over(r.Max)
		s.Min = math.MinInt64
		c.addSum(s)
	}
}

// wholeBound returns a bound of the mean as one of the sum. A bound that is a
// decimal number stays one: it is rounded to the scale first and multiplied by
// the total in whole numbers. What no sum reaches becomes the end of int64.
func wholeBound(b, scale float64, total int) int64 {
	if math.Abs(b)*scale*float64(total) > 1<<61 {
		if b > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return Whole(b, scale) * int64(total)
}

// slacks is the float nearest to the mean, which at a bound is the bound.
func (r limitRule) slacks(parts []rule.Part, total int) []Slack {
	scale, _ := r.scale(total)
	sum, units := int64(0), int64(0)
	for _, p := range parts {
		if r.Of == nil || slices.Contains(r.Of, p.Ingredient) {
			sum += Whole(r.Factors[p.Ingredient], scale) * int64(p.Amount)
			units += int64(p.Amount)
		}
	}
	if units == 0 {
		return nil
	}
	return []Slack{{Value: quotient(sum, units, scale), Min: r.Min, Max: r.Max, Unit: r.Attribute, Ingredient: -1}}
}

// Mean returns the least and the greatest factor of a mean's ingredients, in whole
// numbers of a scale; least is above most where there are none.
func Mean(r rule.Limit, total int) (least, most int64, scale float64) {
	scale, _ = limitRule(r).scale(total)
	least, most = math.MaxInt64, math.MinInt64
	for _, i := range limitRule(r).members() {
		f := Whole(r.Factors[i], scale)
		least, most = min(least, f), max(most, f)
	}
	return least, most, scale
}
