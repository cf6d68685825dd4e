package rule

import (
	"fmt"
	"math"
	"slices"
)

// A Limit bounds a mean over the composition: Min ≤ Σ_i f_i·x_i / M ≤ Max; or,
// over some ingredients alone, Min ≤ Σ_{i∈Of} f_i·x_i / Σ_{i∈Of} x_i ≤ Max, which
// holds where none of them is used.
//
// Factors and bounds are taken to as many decimals as fit sums of them into 62
// bits, at most 9, so that whether a composition keeps the limit does not
// depend on the order in which it is summed.
type Limit struct {
	Attribute string    // what the mean is of, where it has a name
	Factors   []float64 // one for each ingredient
	Of        []int     // nil for all
	Min, Max  float64   // −Inf and +Inf where there is no bound
}

func (r Limit) words(s *Set) string {
	text := "limit"
	if r.Attribute != "" {
		text += " of " + r.Attribute
	}
	if r.Of != nil {
		text += " in " + s.of(r.Of)
	}
	return text + boundWords(r.Min, r.Max)
}

func (r Limit) check(s *Set) error {
	if len(r.Factors) != s.Ingredients {
		return fmt.Errorf("has %d factors for %d ingredients", len(r.Factors), s.Ingredients)
	}
	for i, f := range r.Factors {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("has the factor %v for ingredient %d", f, i)
		}
	}
	if err := checkBounds("mean", r.Min, r.Max); err != nil {
		return err
	}
	return s.members(r.Of...)
}

// members returns the ingredients that the mean is over.
func (r Limit) members() []int {
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
func (r Limit) scale(total int) (scale, top float64) {
	for _, f := range r.Factors {
		top = max(top, math.Abs(f))
	}
	if r.Of == nil {
		return scaleOf(top, total), top
	}
	return scaleOf(float64(2*top)+1, total), top // a bound is taken off the factors
}

func (r Limit) conditions(c *Conditions) {
	scale, top := r.scale(c.Total)
	if r.Of == nil {
		s := Sum{Min: wholeBound(r.Min, scale, c.Total), Max: wholeBound(r.Max, scale, c.Total)}
		for i, f := range r.Factors {
			if f := whole(f, scale); f != 0 {
				s.Terms = append(s.Terms, Term{Ingredient: i, PerUnit: f})
			}
		}
		c.addSum(s)
		return
	}
	over := func(bound float64) Sum { // Σ (f_i − bound)·x_i
		var s Sum
		by := whole(min(max(bound, -top-1), top+1), scale)
		for _, i := range r.members() {
			if f := whole(r.Factors[i], scale) - by; f != 0 {
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
	return whole(b, scale) * int64(total)
}

// slacks is the float nearest to the mean, which at a bound is the bound.
func (r Limit) slacks(parts []Part, total int) []Slack {
	scale, _ := r.scale(total)
	sum, units := int64(0), int64(0)
	for _, p := range parts {
		if r.Of == nil || slices.Contains(r.Of, p.Ingredient) {
			sum += whole(r.Factors[p.Ingredient], scale) * int64(p.Amount)
			units += int64(p.Amount)
		}
	}
	if units == 0 {
		return nil
	}
	return []Slack{{Value: quotient(sum, units, scale), Min: r.Min, Max: r.Max, Unit: r.Attribute, Ingredient: -1}}
}

func (r Limit) knobs(s *Set) []knob {
	scale, _ := r.scale(s.Total)
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, i := range r.members() {
		f := whole(r.Factors[i], scale)
		least, most = min(least, f), max(most, f)
	}
	if least > most {
		return nil
	}
	return boundKnobs(r.Min, r.Max, least, most, scale, func(lo, hi float64) Rule {
		r := r
		r.Min, r.Max = lo, hi
		return r
	})
}
